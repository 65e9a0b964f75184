"""Unlabelled texts in, the embeddings that a strong encoder gives them out: a teacher's targets."""
