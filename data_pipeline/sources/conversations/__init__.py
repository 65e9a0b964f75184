"""Anybody's conversations in, messages or pairs out: the sources of three kinds of table."""
