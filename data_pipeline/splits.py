"""Train or test, from a stable hash of the thread or of the pair.

The hash depends on nothing but the ids, so that a pair falls on the same side in every run,
on every machine and runner, and stays there when more months are added.
"""

import hashlib

THREAD = "thread"
"""All pairs of a thread on one side: nobody's words stand on both."""
PAIR = "pair"
"""The paper's random split (section 4.1): pairs of one thread may stand on both sides."""
SPLIT_BY = (THREAD, PAIR)


def is_test(
    *, thread: str, input_id: str, response_id: str, split_by: str, test_fraction: float
) -> bool:
    """Whether a pair belongs to the test set; true for about `test_fraction` of all keys."""
    key = thread if split_by == THREAD else f"{input_id} {response_id}"
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < test_fraction * 2**64
