"""A batch in, its loss and metrics out: response selection and NLI."""
