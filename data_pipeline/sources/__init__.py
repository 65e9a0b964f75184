"""Input files of any kind in, batches of messages out; a new kind is a new source."""
