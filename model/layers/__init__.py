"""Token ids in, embeddings and logits out: encoders and the layers they are made of."""
