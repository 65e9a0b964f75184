"""Train, validation or test, from a stable hash of the thread or of the pair.

The hash depends on nothing but the ids, so that a pair is in the same split in every run, on every
machine and runner, and stays there when more input is added. The lowest hashes are test, with or
without a validation set, which is taken from train.
"""

import hashlib

TRAIN = "train"
VALIDATION = "validation"
TEST = "test"
SPLITS = (TRAIN, VALIDATION, TEST)

THREAD = "thread"
"""All pairs of a thread in one split, so that no text is in two."""
PAIR = "pair"
"""The paper's random split (section 4.1): pairs of one thread may be in several splits."""
SPLIT_BY = (THREAD, PAIR)


def stable_hash(text: str) -> int:
    """64 bits of a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def split_of(
    *,
    thread: str,
    input_id: str,
    response_id: str,
    split_by: str,
    test_fraction: float,
    validation_fraction: float,
) -> str:
    """The split of a pair; about `test_fraction` of all keys are test, and so on."""
    key = thread if split_by == THREAD else f"{input_id} {response_id}"
    position = stable_hash(key)
    if position < test_fraction * 2**64:
        return TEST
    if position < (test_fraction + validation_fraction) * 2**64:
        return VALIDATION
    return TRAIN
