"""TFRecord files in, batches in training order out."""
