"""The threads of messages that have none: all messages that replies connect, however far.

Messages that a rule drops connect others, too, so that no conversation is in two splits. One
worker looks at the links alone, 16 bytes a reply.
"""

from collections.abc import Iterable

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from common.tfrecord import INPUT_ID, THREAD_ID
from data_pipeline.execution.columns import with_columns
from data_pipeline.pairs.splits import stable_hashes
from data_pipeline.sources.ids import whole

Threads = tuple[np.ndarray, np.ndarray]
"""Hashes of message ids, ascending, and of each the lowest hash in its thread, uint64 [ids]."""


def add_threads(pairs: beam.PCollection, messages: beam.PCollection) -> beam.PCollection:
    """Batches of pairs, batches of messages -> the pairs with their threads."""
    threads = (
        messages
        | "List the links of the replies" >> beam.Map(links_of)
        | "Collect the links" >> beam.combiners.ToList()
        | "Connect the messages" >> beam.Map(connect)
    )
    return pairs | "Add the threads" >> beam.Map(with_threads, AsSingleton(threads))


def links_of(messages: pa.RecordBatch) -> np.ndarray:
    """Hashes of parents and of replies to them, uint64 [2, replies]."""
    replies = messages.filter(messages.column("parent").is_valid())
    ends = (whole(replies.column(name)) for name in ("parent", "id"))
    return np.stack(list(map(stable_hashes, ends)))


def connect(links: Iterable[np.ndarray]) -> Threads:
    """The links of all replies -> the threads."""
    # Here, since every job imports this module, and few need it.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.concatenate([np.zeros((2, 0), np.uint64), *links], axis=1)
    ids, positions = np.unique(ends, return_inverse=True)
    if not len(ids):
        return ids, ids
    inputs, responses = positions.reshape(2, -1)
    links_between = np.ones(len(inputs), bool), (inputs, responses)
    graph = coo_array(links_between, shape=(len(ids), len(ids)))
    _, component = connected_components(graph, directed=False)
    # Ids are sorted, so the first of a component has its lowest hash.
    _, first = np.unique(component, return_index=True)
    return ids, ids[first[component]]


def with_threads(pairs: pa.RecordBatch, threads: Threads) -> pa.RecordBatch:
    """The pairs with their threads: 16 hexadecimal digits, the same in every run."""
    ids, lowest = threads
    found = lowest[np.searchsorted(ids, stable_hashes(whole(pairs.column(INPUT_ID))))]
    return with_columns(pairs, **{THREAD_ID: [f"{thread:016x}" for thread in found.tolist()]})
