"""One command: an export of conversations in; a module, an index and a report out.

It runs the other programs, each in a process of its own, as a user would.
"""
