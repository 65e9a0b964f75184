"""Encoders from outside: SavedModels, and what packages bring."""
