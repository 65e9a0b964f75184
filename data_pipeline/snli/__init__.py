"""SNLI files in, TFRecords of premise, hypothesis and label out."""
