"""Train, validation or test, from a stable hash of the thread or of the pair.

The hash depends on nothing but the ids, so that a pair falls on the same side in every run,
on every machine and runner, and stays there when more months are added. The lowest hashes are
test whether or not there is a validation set, which takes its part of what would be train.
"""

import hashlib

TRAIN = "train"
VALIDATION = "validation"
TEST = "test"
SIDES = (TRAIN, VALIDATION, TEST)

THREAD = "thread"
"""All pairs of a thread on one side: nobody's words stand on two."""
PAIR = "pair"
"""The paper's random split (section 4.1): pairs of one thread may stand on several sides."""
SPLIT_BY = (THREAD, PAIR)


def side_of(
    *,
    thread: str,
    input_id: str,
    response_id: str,
    split_by: str,
    test_fraction: float,
    validation_fraction: float,
) -> str:
    """The side of a pair; of all keys about the fractions asked for are test and validation."""
    key = thread if split_by == THREAD else f"{input_id} {response_id}"
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    place = int.from_bytes(digest, "big")
    if place < test_fraction * 2**64:
        return TEST
    if place < (test_fraction + validation_fraction) * 2**64:
        return VALIDATION
    return TRAIN
