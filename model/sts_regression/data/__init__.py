"""STS files, folds and word vectors in, arrays out."""
