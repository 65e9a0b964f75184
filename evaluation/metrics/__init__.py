"""Scores and gold labels in, metrics out, without TensorFlow; intervals: `common.statistics`."""
