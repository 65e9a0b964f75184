"""The commands: their options, and what runs each."""
