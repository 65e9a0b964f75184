"""An export of conversations in; a module, an index and a verdict out, by the other programs."""
