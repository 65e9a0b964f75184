"""Embeddings and labels in, what is learned of them out; the encoder's weights stay as they are."""
