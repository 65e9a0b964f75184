"""The threads of messages that have none: all messages that pairs connect, however far.

Two pairs with a message in common are of one thread, so that no message is in two splits. One
worker looks at the links alone, 16 bytes a pair.
"""

from collections.abc import Iterable

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from data_pipeline.pairs.schema import INPUT_ID, RESPONSE_ID, THREAD_ID
from data_pipeline.pairs.splits import stable_hashes

_HASH = np.dtype("<u8")


class Threads:
    """Message ids -> threads, by hashes of the ids."""

    def __init__(self, links: Iterable[bytes]):
        """Connects the links of all pairs, as `links_of` lists them."""
        batches = [np.frombuffer(some, _HASH).reshape(2, -1) for some in links]
        ends = np.concatenate([np.zeros((2, 0), _HASH), *batches], axis=1)
        self._ids, positions = np.unique(ends, return_inverse=True)
        if not len(self._ids):
            self._threads = self._ids
            return
        # Here, since every job imports this module, and few need it.
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        count = len(self._ids)
        inputs, responses = positions.reshape(2, -1)
        graph = coo_array((np.ones(len(inputs), bool), (inputs, responses)), (count, count))
        _, component = connected_components(graph, directed=False)
        # Ids are sorted, so the first of a component has its lowest hash.
        _, first = np.unique(component, return_index=True)
        self._threads = self._ids[first[component]]

    def of(self, hashes: np.ndarray) -> pa.StringArray:
        """The thread of each message: 16 hexadecimal digits, the same in every run."""
        found = self._threads[np.searchsorted(self._ids, hashes)]
        return pa.array([f"{thread:016x}" for thread in found.tolist()], pa.string())


def add_threads(pairs: beam.PCollection) -> beam.PCollection:
    """Batches of pairs -> the same with their threads."""
    threads = (
        pairs
        | "List the links of the pairs" >> beam.Map(links_of)
        | "Collect the links" >> beam.combiners.ToList()
        | "Connect the messages" >> beam.Map(Threads)
    )
    return pairs | "Add the threads" >> beam.Map(with_threads, AsSingleton(threads))


def links_of(pairs: pa.RecordBatch) -> bytes:
    """The hashes of the ids of inputs and responses, [2, pairs]."""
    return b"".join(stable_hashes(pairs.column(name)).tobytes() for name in (INPUT_ID, RESPONSE_ID))


def with_threads(pairs: pa.RecordBatch, threads: Threads) -> pa.RecordBatch:
    """The pairs with their threads."""
    found = threads.of(stable_hashes(pairs.column(INPUT_ID)))
    return pairs.set_column(pairs.schema.get_field_index(THREAD_ID), THREAD_ID, found)
