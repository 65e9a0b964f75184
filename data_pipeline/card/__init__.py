"""Pairs and counts in, histograms and the data card out."""
