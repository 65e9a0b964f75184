"""Lines of CSV and TSV files in, rows out."""
