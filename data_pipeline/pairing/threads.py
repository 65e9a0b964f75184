"""The threads of messages that have none: all messages that pairs connect, however far.

Two pairs with a message in common are of one thread, so that no message is in two splits. One
worker looks at the links alone, 16 bytes a pair.
"""

from collections.abc import Iterable

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from data_pipeline.execution.shuffle import Pair
from data_pipeline.pairs.splits import stable_hash

_HASH = np.dtype("<u8")


class Threads:
    """Message ids -> threads, by hashes of the ids."""

    def __init__(self, links: Iterable[bytes]):
        """Connects the links of all pairs, as `links_of` lists them."""
        ends = np.frombuffer(b"".join(links), _HASH)
        self._ids, positions = np.unique(ends, return_inverse=True)
        count = len(self._ids)
        inputs, responses = positions.reshape(-1, 2).T
        graph = coo_array((np.ones(len(inputs), bool), (inputs, responses)), (count, count))
        _, component = connected_components(graph, directed=False)
        # Ids are sorted, so the first of a component has its lowest hash.
        _, first = np.unique(component, return_index=True)
        self._threads = self._ids[first[component]] if count else self._ids

    def of(self, own_ids: list[str]) -> list[str]:
        """The thread of each message: 16 hexadecimal digits, the same in every run."""
        hashes = np.array([stable_hash(own_id) for own_id in own_ids], _HASH)
        found = np.searchsorted(self._ids, hashes)
        return [f"{thread:016x}" for thread in self._threads[found].tolist()]


def add_threads(pairs: beam.PCollection) -> beam.PCollection:
    """Batches of pairs -> the same with their threads."""
    threads = (
        pairs
        | "List the links of the pairs" >> beam.Map(links_of)
        | "Collect the links" >> beam.combiners.ToList()
        | "Connect the messages" >> beam.Map(Threads)
    )
    return pairs | "Add the threads" >> beam.Map(with_threads, AsSingleton(threads))


def links_of(pairs: list[Pair]) -> bytes:
    """The hashes of the ids of inputs and responses, [pairs, 2]."""
    ids = [(stable_hash(pair.input_id), stable_hash(pair.response_id)) for pair in pairs]
    return np.array(ids, _HASH).tobytes()


def with_threads(pairs: list[Pair], threads: Threads) -> list[Pair]:
    """The pairs with their threads."""
    found = threads.of([pair.input_id for pair in pairs])
    return [pair._replace(thread_id=thread) for pair, thread in zip(pairs, found, strict=True)]
