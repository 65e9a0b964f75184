"""Scores and gold labels in, figures and intervals out; no TensorFlow here."""
