"""Reddit comment dumps in, batches of messages out, judged by the paper's rules."""
