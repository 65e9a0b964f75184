"""Serialized pairs in, loss and metrics out: response selection and NLI, as Model Garden tasks."""
