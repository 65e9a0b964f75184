"""Responses in, an index on disk out; the best responses to an input."""
