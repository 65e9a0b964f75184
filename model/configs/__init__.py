"""A YAML file and flags in, a checked experiment configuration out."""

from pathlib import Path

PRESETS = Path(__file__).parent / "presets"
"""YAML files of experiments that come with the package."""

EXPERIMENTS = ("reddit", "nli", "reddit_nli", "teacher", "reddit_teacher", "reddit_nli_teacher")
"""Names of what can be trained."""
