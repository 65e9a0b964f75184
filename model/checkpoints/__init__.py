"""Weights in, checkpoint files out, and back: the model folder."""
