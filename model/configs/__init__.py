"""A YAML file and flags in, a checked experiment configuration out."""
