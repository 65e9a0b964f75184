"""Word lists in, a generated forum and labelled sets in the layout of real data out."""
