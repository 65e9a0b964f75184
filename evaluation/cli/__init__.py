"""The commands, one a file: `add` adds it to the parser, `run` runs it.

TensorFlow takes seconds to import, matplotlib one: each command imports what it needs when it
is run, and the grammars import neither.
"""
