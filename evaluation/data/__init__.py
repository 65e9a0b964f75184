"""Official files in, sentence pairs, questions and labels out."""
