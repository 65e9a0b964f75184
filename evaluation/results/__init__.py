"""A result in, one JSON file out, and back: schema, storage, locks."""
