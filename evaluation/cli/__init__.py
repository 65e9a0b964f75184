"""The commands, one a file: `add` tells argparse its grammar, and what runs it.

TensorFlow takes seconds to import, matplotlib one: each command imports what it needs when it
is run, and the grammars import neither.
"""
