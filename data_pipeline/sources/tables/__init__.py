"""Files of JSON lines, CSV, TSV or Parquet in, batches of messages out: anybody's conversations."""

FIELD = "_field"
"""The end of the options that name the field of a role."""


def flag_of(role: str) -> str:
    """The option that names the field of a role."""
    return f"--{role.split()[0]}{FIELD}"
