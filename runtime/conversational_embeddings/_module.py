"""A module's plain form: rows of one table are summed, so NumPy is all that it takes."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Callable, Generator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from conversational_embeddings._batches import Batches
from conversational_embeddings._farmhash import fingerprint64
from conversational_embeddings._sums import weighted_sums
from conversational_embeddings._tokens import LOOKED_AT, tokens

FORMAT = 1
"""The version of the plain form that this package reads: `format` of `config.json`."""
_BEGIN, _END = "<s>", "</s>"
_HASHES = 2**31 - 1
_PRIME = 1_000_003
_NGRAMS_A_WORD = 24
_REMEMBERED = 2**16
"""Words without a row of their own whose rows are kept: some 10 MB."""
_BLOCK, _CHARACTERS = 512, 2**17
"""Texts that are looked up at a time, and their characters, but for the last one's."""
_TOGETHER = 64
"""Fewer texts are faster one by one than in a block."""
_LEAST_SQUARE = 1e-12
"""The smallest squared length that vectors are divided by, as in TensorFlow's `l2_normalize`."""


def load(path: str | Path) -> Module:
    """Loads a module.

    Args:
      path: the folder of a module that `python -m export` has written.

    Raises:
      FileNotFoundError: if the folder holds no plain form, as of encoders that are no sums of rows.
      ValueError: if the plain form is of another version, or damaged.
    """
    try:
        return Module(Path(path))
    except OSError:
        raise
    except Exception as error:  # of JSON and safetensors too
        raise ValueError(f"{path}: {error}") from error


class Module:
    """Texts in, embeddings out: `load` makes it. It may be used by several threads.

    An embedding depends on its own text only. Text is truncated to `max_tokens` words; an empty
    text has an embedding, too, which means nothing.

    From 64 texts on, a call looks up many at a time; from 513 on, it uses two cores.

    Attributes:
      dim: numbers of an embedding.
      max_tokens: words and other visible characters of a text that are read.
    """

    def __init__(self, folder: Path):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config.get("format") != FORMAT:
            raise ValueError(
                f"config.json: format is {config.get('format')!r}; "
                f"accepted: {FORMAT} (another release of this package may read it)"
            )
        self.dim: int = config["dim"]
        self.max_tokens: int = config["max_tokens"]
        self._words = _Rows(folder, config["words"])
        self._bigrams = _Rows(folder, config["bigrams"]) if "bigrams" in config else None
        self._ngrams: dict[str, int] = config.get("char_ngrams", {})
        with safe_open(str(folder / "model.safetensors"), framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        self._table: np.ndarray = arrays["table"]
        self._require_whole()
        self._scales: np.ndarray = arrays["scales"]
        self._bias: np.ndarray = arrays["bias"]
        self._projection: np.ndarray | None = arrays.get("projection")
        self._components: np.ndarray | None = None
        if "components" in arrays:
            self._components = np.ascontiguousarray(arrays["components"].T)
        self._sts_matrix: np.ndarray | None = arrays.get("sts_matrix")
        self._response: tuple[np.ndarray, np.ndarray] | None = None
        if "response" in config:
            self._response = arrays["response_kernel"], arrays["response_bias"]
            self._response_is_residual: bool = config["response"]["residual"]
            self._response_is_normalized: bool = config["response"]["normalize"]
        self._rows_of_unknown = functools.lru_cache(_REMEMBERED)(self._unknown)

    def _require_whole(self) -> None:
        """Raises ValueError unless the rows of each kind begin where those before them end."""
        kinds = [kind for kind in (self._words, self._bigrams) if kind is not None]
        starts = [kind.first for kind in kinds]
        ends = [kind.end for kind in kinds]
        if self._ngrams:
            starts.append(self._ngrams["first"])
            ends.append(self._ngrams["first"] + self._ngrams["buckets"] - 1)
        if [0, *ends] != [*starts, len(self._table)]:
            raise ValueError(
                f"damaged: rows {starts} to {ends} of config.json and the vocabulary are not the "
                f"{len(self._table)} rows of model.safetensors"
            )

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Embeds texts to compare them with each other.

        Args:
          texts: a list of strings.

        Returns:
          float32 [texts, dim], rows of unit length; the SavedModel's `serving_default`.

        Raises:
          TypeError: if `texts` is a string, or holds anything but strings.
        """
        return self._encode(texts, self._finished)

    def encode_input(self, texts: Sequence[str]) -> np.ndarray:
        """Embeds what is replied to, for its dot product with `encode_response`.

        Args:
          texts: a list of strings.

        Returns:
          float32 [texts, dim], rows of unit length; the SavedModel's `encode_input`.

        Raises:
          TypeError: if `texts` is a string, or holds anything but strings.
        """
        return self._encode(texts, lambda u: u)

    def encode_response(self, texts: Sequence[str]) -> np.ndarray:
        """Embeds replies, for their dot product with `encode_input`.

        Args:
          texts: a list of strings.

        Returns:
          float32 [texts, dim]; the SavedModel's `encode_response`.

        Raises:
          TypeError: if `texts` is a string, or holds anything but strings.
          ValueError: if the module was not trained on conversations.
        """
        if self._response is None:
            raise ValueError("this module has no encode_response: it saw no conversations")
        kernel, bias = self._response

        def responses(u: np.ndarray) -> np.ndarray:
            found = u @ kernel + bias
            if self._response_is_residual:
                found += u
            return _normalized(found) if self._response_is_normalized else found

        return self._encode(texts, responses)

    def similarity(self, texts1: Sequence[str], texts2: Sequence[str]) -> np.ndarray:
        """Compares texts pair by pair: 1 - arccos(cosine) / pi (Yang et al. 2018, equation 2).

        Args:
          texts1: a list of strings.
          texts2: a list of as many strings.

        Returns:
          float32 [texts1], in [0, 1]; the SavedModel's `similarity`, `angular`.

        Raises:
          TypeError: if one of them is a string, or holds anything but strings.
          ValueError: if their lengths differ.
        """
        if len(texts1) != len(texts2):
            raise ValueError(
                f"texts1 has {len(texts1)} texts, texts2 {len(texts2)}; accepted: as many"
            )
        cosines = np.einsum("ij,ij->i", self.encode(texts1), self.encode(texts2))
        return 1 - np.arccos(np.clip(cosines, -1, 1)) / np.float32(np.pi)

    def rank(self, text: str, responses: Sequence[str]) -> np.ndarray:
        """Scores candidate replies to a text, the higher the better.

        Args:
          text: what is replied to.
          responses: a list of strings.

        Returns:
          float32 [responses], dot products (section 2.2); the SavedModel's `rank_responses`.

        Raises:
          TypeError: if `text` is no string, or `responses` is one or holds anything else.
          ValueError: if the module was not trained on conversations.
        """
        return self.encode_response(responses) @ self.encode_input([text])[0]

    def _finished(self, u: np.ndarray) -> np.ndarray:
        """Removes the components and applies the matrix: float32 [batch, dim] -> the same."""
        if self._components is None and self._sts_matrix is None:
            return u
        if self._components is not None:
            # By einsum: BLAS would have threads of its own spin between such small products.
            along = np.einsum("td,cd->tc", u, self._components)
            u = u - np.einsum("tc,cd->td", along, self._components)
        if self._sts_matrix is not None:
            u = u @ self._sts_matrix
        return _normalized(u)

    def _encode(
        self, texts: Sequence[str], finished: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Texts -> `finished` of u, which is float32 [texts, dim], rows of unit length."""
        if isinstance(texts, str):
            raise TypeError(f"texts is the string {texts[:40]!r}; accepted: a list of strings")
        if len(texts) < _TOGETHER:
            return finished(self._u([_checked(text) for text in texts]))
        embeddings = np.empty((len(texts), self.dim), np.float32)

        def embed(start: int, block: list[str]) -> None:
            embeddings[start : start + len(block)] = finished(self._u(block))

        if len(texts) <= _BLOCK or _cores() == 1:
            for start, block in _blocks(texts):
                embed(start, block)
        else:
            _in_two_threads(embed, _blocks(texts))
        return embeddings

    def _u(self, texts: list[str]) -> np.ndarray:
        """Texts -> float32 [texts, dim], rows of unit length."""
        sums = self._summed(texts)
        if self._projection is not None:
            sums = sums @ self._projection
        return _normalized(sums + self._bias)

    def _summed(self, texts: list[str]) -> np.ndarray:
        """The sums of the rows of texts, over the roots of their numbers of words."""
        sums = np.empty((len(texts), self._table.shape[1]), np.float32)
        alone = range(len(texts))
        if len(texts) >= _TOGETHER and self._bigrams is None:
            numbers, rows, sizes, counts = self._batches.rows(texts)
            weights = counts.astype(np.float32) ** -0.5
            sums[numbers] = weighted_sums(self._table, self._scales, rows, sizes, weights)
            alone = np.setdiff1d(alone, numbers).tolist()
        for number in alone:
            ids, count = self._ids(texts[number])
            rows = np.array(ids)
            weights = self._scales.take(rows) * np.float32(count**-0.5)
            found = self._table.take(rows, axis=0)
            np.einsum("r,rd->d", weights, found, out=sums[number], dtype=np.float32)
        return sums

    @functools.cached_property
    def _batches(self) -> Batches:
        """Made when it is needed, since one text does not need it."""
        return Batches(
            self._words.known,
            end=self._words.known.get(_END, *self._unknown(_END)),
            most=self.max_tokens,
            longest=self.max_tokens * LOOKED_AT,
            bucket=lambda hashes: self._words.bucket(hashes % _HASHES).astype(np.intp),
            ngram=self._row_of_ngram if self._ngrams else None,
        )

    def _ids(self, text: str) -> tuple[list[int], int]:
        """The rows that a text is the sum of, and the number of its words and the end mark."""
        words = tokens(text, self.max_tokens)
        words.append(_END)
        ids: list[int] = []
        known = self._words.known
        for word in words:
            place = known.get(word)
            if place is None:
                ids += self._rows_of_unknown(word)
            else:
                ids.append(place)
        if self._bigrams is not None:
            ids += map(self._bigrams.row_of_pair, chain((_BEGIN,), words), words)
        return ids, len(words)

    def _unknown(self, word: str) -> list[int]:
        """The rows of a word that the vocabulary lacks: its bucket's, and its n-grams'."""
        rows = [self._words.bucket(_hash(word))]
        if self._ngrams and word != _END:
            codes = [ord(" "), *map(ord, word), ord(" ")]
            rows += map(self._row_of_ngram, codes, codes[1:], codes[2 : _NGRAMS_A_WORD + 2])
        return rows

    def _row_of_ngram(self, before: Any, middle: Any, after: Any) -> Any:
        """The row of three characters by their codes, each a number or an array."""
        number = (before * _PRIME + middle) * _PRIME + after
        return self._ngrams["first"] + number % (self._ngrams["buckets"] - 1)


class _Rows:
    """Rows of the table of one kind: those of a vocabulary, then those of the buckets."""

    def __init__(self, folder: Path, config: dict):
        self.known: dict[str, int] = {}
        if "vocabulary" in config:
            lines = (folder / config["vocabulary"]).read_text(encoding="utf-8").split("\n")[:-1]
            self.known = dict(zip(lines, range(config["first"], config["first"] + len(lines))))
        self.first = config["first"]
        self._first_bucket = self.first + len(self.known)
        self._buckets = config["buckets"] - 1
        self.end = self._first_bucket + self._buckets

    def bucket(self, number: Any) -> Any:
        """The row of a hash, or the rows of an array of them."""
        return self._first_bucket + number % self._buckets

    def row_of_pair(self, before: str, word: str) -> int:
        """The row of two words that follow each other."""
        row = self.known.get(f"{before} {word}") if self.known else None
        return self.bucket(_hash(before) * _PRIME + _hash(word)) if row is None else row


def _checked(text: str) -> str:
    """The same text."""
    if not isinstance(text, str):
        raise TypeError(f"texts holds {text!r}; accepted: strings")
    return text


def _blocks(texts: Sequence[str]) -> Generator[tuple[int, list[str]], None, None]:
    """Texts in parts that fit in a core's cache; and where each part begins."""
    block: list[str] = []
    start, room = 0, _CHARACTERS
    for text in texts:
        block.append(_checked(text))
        room -= len(text)
        if room < 0 or len(block) == _BLOCK:
            yield start, block
            start, block, room = start + len(block), [], _CHARACTERS
    if block:
        yield start, block


def _in_two_threads(work: Callable, parts: Generator[tuple, None, None]) -> None:
    """Calls `work` with each of some parts.

    NumPy works outside of the interpreter's lock, for which a third thread would wait.
    """
    from concurrent.futures import ThreadPoolExecutor  # a tenth of the time of loading

    taking = threading.Lock()

    def stop() -> None:
        with taking:
            parts.close()

    def work_on_parts() -> None:
        try:
            while True:
                with taking:
                    part = next(parts, None)
                if part is None:
                    return
                work(*part)
        finally:
            stop()

    with ThreadPoolExecutor(2) as pool:
        workers = [pool.submit(work_on_parts) for _ in range(2)]
        try:
            for worker in workers:
                worker.result()
        finally:  # after Ctrl-C, no further part is begun
            stop()


def _cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux alone
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@functools.lru_cache(_REMEMBERED)
def _hash(token: str) -> int:
    """As TensorFlow's `to_hash_bucket_fast`."""
    return fingerprint64(token.encode()) % _HASHES


def _normalized(rows: np.ndarray) -> np.ndarray:
    """Rows of unit length: float32 [batch, dim] -> the same."""
    squares = np.einsum("ij,ij->i", rows, rows)
    return rows / np.sqrt(np.maximum(squares, _LEAST_SQUARE))[:, np.newaxis]
