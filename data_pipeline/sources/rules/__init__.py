"""A message's text and author in, the rule that drops it out: the rules of every kind of input."""
