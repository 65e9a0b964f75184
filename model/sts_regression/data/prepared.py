"""Everything that folds are computed from, read once."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import sts
from common.errors import InputError
from common.sts import Pair
from common.text_files import Source
from model.sts_regression.cosine import Embeddings
from model.sts_regression.data import folds, vectors
from model.sts_regression.data.folds import Split
from model.sts_regression.data.vectors import WordVectors
from model.sts_regression.data.words import split_all
from model.sts_regression.options import STS2016
from model.sts_regression.settings import RANDOM, Settings

OWN_SPLIT = "own_split"
"""How the STS Benchmark is split: its train file trains, its dev file is held out."""
_BATCH = 256


class Data(NamedTuple):
    """Pairs, as rows of the table of word vectors."""

    first: Sequence[Sequence[int]]
    second: Sequence[Sequence[int]]
    scores: np.ndarray
    """float32 [n], in [0, 5]."""
    embeddings: Embeddings
    """By the module; of width 0 if none was given."""

    def take(self, indices: np.ndarray) -> "Data":
        """The pairs at these indices."""
        first, second = ([side[i] for i in indices] for side in (self.first, self.second))
        return Data(first, second, self.scores[indices], self.embeddings.take(indices))

    def sentences(self) -> list[Sequence[int]]:
        """All first sentences, then all second ones."""
        return [*self.first, *self.second]


class Prepared(NamedTuple):
    """The data of all folds."""

    corpus: Data
    tests: dict[str, Data]
    """Every fold is scored on them, too."""
    vectors: WordVectors
    splits: dict[str, list[Split]]
    """By the way pairs are put into folds."""
    shared: dict[str, list[int]]
    """For each fold, how many pairs held out have a sentence that also trains."""
    about: dict[str, Any]
    """Files and hashes of corpus, tests and vectors, as a result has them."""
    module: dict | None
    """Path and fingerprint of the module, if one was given."""

    def identity(self) -> dict[str, str]:
        """Hashes of pairs, vectors and, if there is one, the module."""
        tests = {name: test["sha256"] for name, test in self.about["tests"].items()}
        table = hashlib.sha256(self.vectors.table.tobytes()).hexdigest()
        module = {"module": self.module["fingerprint"]} if self.module else {}
        return {"corpus": self.about["sha256"], "vectors": table} | tests | module


def prepare(
    folder: Path,
    corpus: str,
    *,
    settings: Settings,
    vectors_path: Path,
    folds_by: Sequence[str] = (RANDOM,),
    dim: int | None = None,
    first_words: int = 0,
    module: Path | None = None,
) -> Prepared:
    """Reads pairs, word vectors and, if there is a module, its embeddings.

    Raises:
      InputError: if any of them cannot be used.
    """
    sources, own = _read(folder, corpus)
    pairs = {name: some for name, (_, some) in sources.items()}
    words = _split_words([pair for some in pairs.values() for pair in some])
    wanted = {word for sentence in words.values() for word in sentence}
    found = vectors.load(vectors_path, wanted, dim=dim, first=first_words)
    embeddings = _embeddings(module, list(words)) if module else {}

    def data_of(some: Sequence[Pair]) -> Data:
        data = _data(some, words, found)
        if not module:
            return data
        first = np.stack([embeddings[pair.sentence1] for pair in some])
        second = np.stack([embeddings[pair.sentence2] for pair in some])
        return data._replace(embeddings=Embeddings(first, second))

    lower = {sentence: " ".join(some).lower() for sentence, some in words.items()}
    identified = {
        name: [(lower[pair.sentence1], lower[pair.sentence2]) for pair in some]
        for name, some in pairs.items()
    }
    sentences = identified.pop(corpus)
    if own:
        splits = {OWN_SPLIT: [own]}
    else:
        options = {"folds": settings.folds, "seed": settings.seed}
        splits = {way: folds.make(sentences, folds_by=way, **options) for way in folds_by}
    data = {name: data_of(some) for name, some in pairs.items()}
    trained = [sentences[index] for index in own.training] if own else sentences
    tests = {
        name: sources[name][0].provenance()
        | {"pairs": len(some), "pairs_with_a_sentence_that_trains": folds.shared(trained, some)}
        for name, some in identified.items()
    }
    return Prepared(
        corpus=data.pop(corpus),
        tests=data,
        vectors=found,
        splits=splits,
        shared={
            way: [
                folds.shared(*([sentences[index] for index in indices] for indices in split))
                for split in some
            ]
            for way, some in splits.items()
        },
        about=sources[corpus][0].provenance()
        | {"tests": tests, "word_vectors": vectors_path.name, "word_dim": found.dim},
        module=_about(module) if module else None,
    )


def _read(folder: Path, corpus: str) -> tuple[dict[str, tuple[Source, list[Pair]]], Split | None]:
    """The pairs of the corpus, then of its test, by name; and the split of one that has its own."""
    if corpus == STS2016:
        names = (STS2016, "sts2017_track5")
        sources = {name: sts.sources(folder / name)[0] for name in names}
        return {name: (some, sts.read(some).pairs) for name, some in sources.items()}, None
    parts = [sts.train_source(folder / corpus), *sts.sources(folder / corpus)]
    train, dev, test = (sts.read(part).pairs for part in parts)
    both = Source(corpus, parts[0].files + parts[1].files)
    own = Split(np.arange(len(train)), np.arange(len(train), len(train) + len(dev)))
    return {corpus: (both, train + dev), "sts-test": (parts[2], test)}, own


def _split_words(some: Sequence[Pair]) -> dict[str, list[str]]:
    """The words of every sentence.

    Raises:
      InputError: if a sentence has none.
    """
    sentences = list(
        dict.fromkeys(text for pair in some for text in (pair.sentence1, pair.sentence2))
    )
    words = dict(zip(sentences, split_all(sentences), strict=True))
    for sentence, found in words.items():
        if not found:
            raise InputError(f"--data: no words in the sentence {sentence!r}")
    return words


def _data(some: Sequence[Pair], words: dict[str, list[str]], found: WordVectors) -> Data:
    """Pairs as rows of the table; words without a vector are counted."""
    return Data(
        [found.ids(words[pair.sentence1]) for pair in some],
        [found.ids(words[pair.sentence2]) for pair in some],
        np.array([pair.gold for pair in some], np.float32),
        Embeddings(*np.empty([2, len(some), 0], np.float32)),
    )


def _embeddings(module: Path, sentences: list[str]) -> dict[str, np.ndarray]:
    """Each sentence's embedding, float32 [dim], of unit length."""
    from common import saved_model
    from model.unit_rows import of_unit_length

    encode = saved_model.sentence_encoder(module)
    found: dict[str, np.ndarray] = {}
    in_order = sorted(sentences, key=lambda sentence: (len(sentence), sentence))
    for start in range(0, len(in_order), _BATCH):
        batch = in_order[start : start + _BATCH]
        rows = of_unit_length(encode(batch), batch, encoder=str(module))
        found.update(zip(batch, rows, strict=True))
    return found


def _about(module: Path) -> dict:
    from common.saved_model import fingerprint

    return {"path": str(module), "fingerprint": fingerprint(module)}
