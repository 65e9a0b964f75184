"""Scores and gold labels in, metrics and bootstrap intervals out; no TensorFlow here."""
