"""A module in, a verified SavedModel folder out, put in place in one step."""
