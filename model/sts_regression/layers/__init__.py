"""Word vectors of two sentences in, a similarity score out."""
