"""Stored results in; tables, pictures, an HTML report and a Markdown page of results out."""
