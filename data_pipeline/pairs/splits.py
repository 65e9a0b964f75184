"""Train, validation or test, from a stable hash of the thread or of the pair.

The hash depends on nothing but the ids, so that a pair is in the same split in every run, on every
machine and runner, and stays there when more input is added. The lowest hashes are test, with or
without a validation set, which is taken from train.
"""

import hashlib
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.pairs.schema import SPLIT
from data_pipeline.pairs.tfrecord import INPUT_ID, RESPONSE_ID, THREAD_ID

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")

THREAD = "thread"
"""All pairs of a thread in one split, so that no text is in two."""
PAIR = "pair"
"""The paper's random split (section 4.1): pairs of one thread may be in several splits."""
NEWEST = "newest"
"""All pairs of a thread in one split, the newest threads in test (`pairs.newest`)."""
SPLIT_BY = (THREAD, PAIR, NEWEST)


def stable_hash(text: bytes) -> bytes:
    """8 bytes, the same on every machine."""
    return hashlib.blake2b(text, digest_size=8).digest()


def stable_hashes(texts: Any) -> np.ndarray:
    """`stable_hash` of each string of an Arrow array, big-endian, uint64 [rows]."""
    hashes = map(stable_hash, texts.cast(pa.binary()).to_pylist())
    return np.frombuffer(b"".join(hashes), ">u8").astype(np.uint64)


def with_hashed_splits(
    pairs: pa.RecordBatch, *, split_by: str, **fractions: float
) -> pa.RecordBatch:
    """The pairs with the column `SPLIT`, as `splits_of` finds it of their threads or their ids."""
    keys = pairs.column(THREAD_ID)
    if split_by == PAIR:
        ids = pairs.column(INPUT_ID), pairs.column(RESPONSE_ID)
        keys = pc.binary_join_element_wise(*ids, " ")
    return with_splits(pairs, keys, partial(splits_of, **fractions))


def with_splits(
    pairs: pa.RecordBatch, keys: Any, find: Callable[[Any], np.ndarray]
) -> pa.RecordBatch:
    """The pairs with the column `SPLIT`, which `find` finds of some of the keys, strings [rows]."""
    encoded = keys.dictionary_encode()
    splits = find(encoded.dictionary).astype(np.int8)
    return pairs.append_column(SPLIT, pa.array(splits[encoded.indices.to_numpy()]))


def splits_of(keys: Any, *, test_fraction: float, validation_fraction: float) -> np.ndarray:
    """The split of each of some strings, an index into `SPLITS`: int64 [keys].

    Of all 64-bit hashes, the lowest `test_fraction` are test; validation are those above.
    """
    position = stable_hashes(keys)
    ends = test_fraction, test_fraction + validation_fraction
    is_test, is_validation = (_below(position, end) for end in ends)
    train, validation, test = range(len(SPLITS))
    return np.where(is_test, test, np.where(is_validation, validation, train))


def _below(position: np.ndarray, fraction: float) -> np.ndarray:
    """Whether each position is in the first `fraction` of all 64-bit numbers."""
    end = math.ceil(fraction * 2**64)
    return position <= np.uint64(min(end, 2**64) - 1) if end > 0 else np.zeros(len(position), bool)
