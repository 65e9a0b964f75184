"""Reddit comment dumps in, input-response pairs out: the Beam job and its command."""
