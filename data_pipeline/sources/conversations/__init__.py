"""Tables of messages, turns or pairs in, batches of messages out: anybody's conversations."""
