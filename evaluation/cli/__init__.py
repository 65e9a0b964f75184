"""The commands: `add` adds those of a file to the parser, `run` runs one.

TensorFlow takes seconds to import, matplotlib one: each command imports what it needs when it
is run, and the grammars import neither.
"""
