"""Fold scores in, a result file and a table out."""
