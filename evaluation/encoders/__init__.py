"""Sentences in, embeddings out: any SavedModel, and baselines."""
