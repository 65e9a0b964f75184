"""Encoders from outside: SavedModels, what packages bring, and files of word vectors."""
