"""Token ids in, embeddings and logits out: encoders and the layers they are made of."""

from model.layers import dan, lstm, transformer  # noqa: F401  each registers its encoder
