"""Result files in, tables, pictures and pages out."""
