"""A Beam graph in, a finished job out: runner, shuffle, progress, report."""
