"""Texts and authors of messages in, the rule that drops each out: for every kind of input."""
