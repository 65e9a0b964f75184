"""Published pairs in, counted words and bigrams out."""
