"""Each text encoded once, in batches of similar lengths."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from tqdm import tqdm

from common.errors import InputError

SENTENCES = 256  # the most in one batch
CHARACTERS = 2**16  # the most in one batch when all are as long as its longest, as padding does
CACHE_BYTES = 256 * 2**20  # the rows that an encoder remembers take no more
Text: TypeAlias = Any  # one, str, or two that are encoded as one, tuple[str, str]
Encode = Callable[[Sequence[Text]], np.ndarray]  # texts to rows: float32 [texts, dim]


class BatchedEncoder:
    """Encodes any number of texts with a function of one batch; remembers up to `CACHE_BYTES`.

    A batch that fails is tried again in halves: to find the text that it fails on, or for memory.
    """

    def __init__(self, encode: Encode, *, path: str, zeros_allowed: bool = False):
        self._encode, self._path, self._zeros_allowed = encode, path, zeros_allowed
        self._rows: dict[Text, np.ndarray] = {}

    def __call__(self, texts: Sequence[Text]) -> np.ndarray:
        """Return float32 [len(texts), dim], in their order; InputError names a text without."""
        rows = dict(self._rows)
        new = set(texts) - rows.keys()
        with tqdm(total=len(new), desc="encoding", unit=" sentences", leave=False) as bar:
            for batch in batches(new):
                rows |= zip(batch, self._in_halves(batch), strict=True)
                bar.update(len(batch))
        self._rows = rows if sum(row.nbytes for row in rows.values()) <= CACHE_BYTES else {}
        return np.stack([rows[text] for text in texts])

    def _in_halves(self, texts: list[Text]) -> np.ndarray:
        try:
            rows = self._encode(texts)
        except InputError:
            if len(texts) == 1:
                raise
            middle = len(texts) // 2
            return np.concatenate(list(map(self._in_halves, (texts[:middle], texts[middle:]))))
        good = np.isfinite(rows).all(axis=1) & (self._zeros_allowed | rows.any(axis=1))
        if not good.all():
            text = texts[int(np.argmin(good))]
            said = "gives zeros or a number that is not finite"
            raise InputError(f"{self._path}: {said} for {text!r}")
        return rows


class Embeddings:
    """An encoder of inputs and responses alike: texts to float32 [texts, dim].

    InputError for a row with NaN or all zeros. The facts that its results name are `pretrained`, it
    was trained elsewhere, and `static`, each token has one vector.
    """

    def __init__(self, encode: Encode, *, path: str, fingerprint: str, **facts: bool):
        self.path = path
        self._provenance: dict = {"path": path, "fingerprint": fingerprint}
        self._provenance |= {name: True for name, holds in facts.items() if holds}
        self.encode = self.encode_inputs = self.encode_responses = BatchedEncoder(encode, path=path)

    def provenance(self) -> dict:
        """Return its path as given, what identifies its weights, and the facts."""
        return self._provenance


def batches(texts: Iterable[Text]) -> Iterator[list[Text]]:
    """Yield the texts in batches of about the same memory, short ones first; the order is fixed."""
    batch: list[Text] = []
    for length, text in sorted((len("".join(text)), text) for text in texts):
        if batch and (len(batch) == SENTENCES or length * (len(batch) + 1) > CHARACTERS):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch
