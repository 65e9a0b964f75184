"""Results in, comparisons out: significance, mistakes, contamination."""
