"""Pairs and counts in, histograms, examples and the data card out."""
