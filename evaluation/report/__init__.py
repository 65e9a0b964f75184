"""Stored results in; a long table of scores, tables of it, an HTML and a Markdown page out."""
