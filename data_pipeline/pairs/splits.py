"""Train, validation or test, from a stable hash of the thread or of the pair.

The hash depends on nothing but the ids, so that a pair is in the same split in every run, on every
machine and runner, and stays there when more input is added. The lowest hashes are test, with or
without a validation set, which is taken from train.
"""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.pairs.schema import INPUT_ID, RESPONSE_ID, THREAD_ID

TRAIN = "train"
VALIDATION = "validation"
TEST = "test"
SPLITS = (TRAIN, VALIDATION, TEST)

THREAD = "thread"
"""All pairs of a thread in one split, so that no text is in two."""
PAIR = "pair"
"""The paper's random split (section 4.1): pairs of one thread may be in several splits."""
SPLIT_BY = (THREAD, PAIR)


@lru_cache(maxsize=1 << 17)
def stable_hash(text: str) -> int:
    """64 bits of a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def split_keys(pairs: pa.RecordBatch, split_by: str) -> Any:
    """What the hash of each pair is taken of, strings [rows]."""
    if split_by == THREAD:
        return pairs.column(THREAD_ID)
    return pc.binary_join_element_wise(pairs.column(INPUT_ID), pairs.column(RESPONSE_ID), " ")


def splits_of(
    keys: Iterable[str], *, test_fraction: float, validation_fraction: float
) -> list[str]:
    """The split of each key; about `test_fraction` of all keys are test, and so on."""
    test = test_fraction * 2**64
    validation = (test_fraction + validation_fraction) * 2**64
    return [
        TEST if position < test else VALIDATION if position < validation else TRAIN
        for position in map(stable_hash, keys)
    ]
