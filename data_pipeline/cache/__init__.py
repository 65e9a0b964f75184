"""Input files that were read before: what was kept of them, and how it is read back."""
