"""Input files in, their comments out: parsed, filtered and packed, and kept where that is asked."""
