"""What all packages share: errors, command lines, files, and readers of the formats they all read.

Nothing in here imports another package of this project.
"""
