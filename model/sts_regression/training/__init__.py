"""One row and its folds in, a score for each pair out."""
