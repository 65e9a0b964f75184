"""Scores any sentence-embedding SavedModel on the paper's tasks and writes the report.

python -m evaluation sts --module DIR --data sts-test.csv --output results
"""
