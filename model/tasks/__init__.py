"""Records in, loss and metrics out: response selection, NLI, a teacher, as Model Garden tasks."""
