"""The rows of many texts at a time, by NumPy: what `Module` looks up word by word otherwise.

A word of up to 16 ASCII characters is two integers; other texts are left out, 2 of 100 comments on
Reddit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from conversational_embeddings._farmhash import fingerprints64

_LONGEST = 16
_MASKS = np.array([256**size - 1 for size in range(9)], np.uint64)
"""Of the first bytes of 8."""
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
"""Odd, and irregular in their bits."""
_END = 0x80
"""The character that stands for the end of a text, which is a word, too."""
_BYTES = np.arange(256)
_FOLDED = _BYTES.astype(np.uint8)
_FOLDED[ord("A") : ord("Z") + 1] += ord("a") - ord("A")
_FOLDED[[ord("`"), 0]] = ord("'"), _END
_IN_WORDS = np.isin(_BYTES, list(b"abcdefghijklmnopqrstuvwxyz0123456789"))
_BEFORE_WORDS = _IN_WORDS | np.isin(_BYTES, ord("'"))
_IS_SEEN = (ord("!") <= _BYTES) & (ord("~") >= _BYTES) | (_BYTES == _END)
Ngram = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Batches:
    """Texts to the rows of their words.

    Args:
      known: words, and the row of each.
      end: the row of a text's end.
      most: words of a text that are kept.
      longest: characters of a text that are read.
      bucket: the rows of hashes.
      ngram: the rows of the codes of three characters; None if there are none.
    """

    def __init__(
        self,
        known: Mapping[str, int],
        *,
        end: int,
        most: int,
        longest: int,
        bucket: Callable[[np.ndarray], np.ndarray],
        ngram: Ngram | None,
    ):
        self._most, self._longest, self._bucket, self._ngram = most, longest, bucket, ngram
        rows = {word.encode(): row for word, row in known.items() if len(word) <= _LONGEST}
        rows = {word: row for word, row in rows.items() if len(word) <= _LONGEST}
        rows[bytes([_END])] = end
        self._rows = np.fromiter(rows.values(), np.intp)
        # The last key, equal to no word, is that of empty places.
        keys = b"".join([word.ljust(_LONGEST, b"\0") for word in (*rows, b"")])
        self._keys = np.frombuffer(keys, "<u8").astype(np.uint64).reshape(-1, 2).T.copy()
        # A hash table of at least 8 places a word. What finds its place taken takes the next one.
        self._bits = np.uint64(len(rows).bit_length() + 3)
        self._table = np.full(1 << int(self._bits), len(rows))
        waiting = np.arange(len(rows))
        places = self._places(*self._keys[:, :-1])
        while len(waiting):
            is_free = self._table[places] == len(rows)
            self._table[places[is_free]] = waiting[is_free]
            is_left = self._table[places] != waiting
            waiting, places = waiting[is_left], self._next(places[is_left])

    def _places(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        mixed = (first * _FACTORS[0] ^ second) * _FACTORS[1]
        return (mixed >> np.uint64(64) - self._bits).astype(np.intp)

    def _next(self, places: np.ndarray) -> np.ndarray:
        return (places + 1) & (len(self._table) - 1)

    def _rows_of(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The rows of words, -1 where one is not known."""
        found = np.full(len(first), -1)
        waiting, places = np.arange(len(first)), self._places(first, second)
        while len(waiting):
            numbers = self._table.take(places)
            is_same = self._keys[0].take(numbers) == first.take(waiting)
            is_same &= self._keys[1].take(numbers) == second.take(waiting)
            found[waiting[is_same]] = self._rows.take(numbers[is_same])
            is_left = ~is_same & (numbers < len(self._rows))
            waiting, places = waiting[is_left], self._next(places[is_left])
        return found

    def rows(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Looks up what it can of some texts.

        Returns:
          int [found], which of the texts; the rows of all these texts, one text after the other;
          int [found], how many rows each has; and its number of words, the end included.
        """
        numbers = [
            number
            for number, text in enumerate(texts)
            if text.isascii() and len(text) <= self._longest
        ]
        joined = "".join([f"{texts[number]}\0" for number in numbers])
        if joined.count("\0") > len(numbers):
            joined = "".join([texts[number].replace("\0", " ") + "\0" for number in numbers])
        characters = _FOLDED.take(np.frombuffer(joined.encode() + b" " * _LONGEST, np.uint8))
        is_found, starts, sizes, counts = self._words(characters, len(numbers))
        eight = np.ndarray(len(characters) - 7, "<u8", characters, strides=(1,)).astype(np.uint64)
        first = eight.take(starts) & _MASKS.take(np.minimum(sizes, 8))
        second = eight.take(starts + 8) & _MASKS.take(np.maximum(sizes, 8) - 8)
        rows = self._rows_of(first, second)
        of_word = np.ones(len(rows), np.intp)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            starts, sizes = starts[unknown], sizes[unknown]
            buckets = self._bucket(fingerprints64(eight, starts, sizes))
            if self._ngram is None:
                rows[unknown] = buckets
            else:
                of_word[unknown] += sizes
                rows = np.repeat(rows, of_word)
                rows[(np.cumsum(of_word) - of_word)[unknown]] = buckets
                rows[rows < 0] = self._ngram(*_ngrams(characters, starts, sizes))
        rows_before = np.append(0, np.cumsum(of_word))
        of_text = np.diff(rows_before[np.append(0, np.cumsum(counts))])
        return np.array(numbers, np.intp)[is_found], rows, of_text, counts

    def _words(self, characters: np.ndarray, texts: int) -> tuple[np.ndarray, ...]:
        """Splits texts as `tokens` does, and leaves out those with a word that is too long.

        Returns:
          bool [texts], those that are kept; int [words], the places of their words in the
          characters, and their lengths; int [kept], the number of their words.
        """
        is_seen = _IS_SEEN.take(characters)
        begins = is_seen.copy()
        begins[1:] &= ~(_IN_WORDS.take(characters[1:]) & _BEFORE_WORDS.take(characters[:-1]))
        starts = np.flatnonzero(begins)
        sizes = np.flatnonzero(is_seen[:-1] & (begins[1:] | ~is_seen[1:])) + 1 - starts
        ends = np.flatnonzero(characters.take(starts) == _END)
        counts = np.diff(ends, prepend=-1)
        text = np.repeat(np.arange(texts), counts)
        is_kept = np.arange(len(starts)) - (ends - counts)[text] <= self._most
        is_kept[ends] = True
        is_found = np.ones(texts, bool)
        is_found[text[is_kept & (sizes > _LONGEST)]] = False
        is_kept &= is_found[text]
        counts = np.bincount(text[is_kept], minlength=texts)[is_found]
        return is_found, starts[is_kept], sizes[is_kept], counts


def _ngrams(characters: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The codes of each three characters of words with a space on both sides: int [3, ngrams]."""
    ends = np.cumsum(sizes)
    middles = np.arange(sizes.sum()) + np.repeat(starts - ends + sizes, sizes)
    codes = np.stack([characters[middles + step] for step in (-1, 0, 1)]).astype(np.int64)
    codes[0, ends - sizes] = codes[2, ends - 1] = ord(" ")
    return codes
