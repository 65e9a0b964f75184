"""A trained model in, the TensorFlow module with its signatures out."""
