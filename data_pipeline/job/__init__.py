"""Messages in, pairs out: the Beam graph that joins replies to what they answer, and its job."""
