"""A task's metrics and items in, one JSON file a data set out, and back."""
