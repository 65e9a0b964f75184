"""Files of JSON lines, CSV, TSV or Parquet in, batches of messages out: anybody's conversations."""
