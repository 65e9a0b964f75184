"""Paths and globs in, batches of lines out; an output folder, claimed and published whole."""
