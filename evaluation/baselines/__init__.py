"""What a user would pick instead of a trained module, each an encoder as the tasks expect one.

Such an encoder has `encode`, `encode_inputs` and `encode_responses`, which are the same function
here, and `provenance`. What it needs to know of words (how rare they are, the direction that all
texts share) it takes from the texts that it will score, without labels; `fit` says so.
"""
