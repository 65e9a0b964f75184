"""Files of JSON lines, CSV, TSV or Parquet in, batches of rows with the wanted fields out."""
