"""Training texts in, initial word vectors out."""
