"""Response prediction (section 4.1): find the true response to an input among 100.

Pairs are shuffled by a seeded hash, so that the same pairs meet however the records are spread over
files, and cut into blocks of as many pairs as there are candidates: each response is the true one
for its own input and a negative for the others. Responses of the first blocks fill up the last one.

- A candidate with the very text of the true response is not a negative; it is left out and counted.
- A negative that scores the same counts as better than the true response, so that a module
  which cannot tell responses apart finds none. Scores within float32's precision are the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.data import ranking_files
from evaluation.data.ranking_files import Pair, RankingData, blocks, shuffled
from evaluation.metrics import similarity
from evaluation.results import measure
from evaluation.results.result import IN_CONTEXT, Result
from evaluation.results.store import Evaluation

AT = (1, 3, 10)
# Embeddings of one text differ by about 1e-7 of their size between batches.
SAME = 1e-6
CONTEXT_NOTE = "Inputs are encoded with the messages before them, where there are any."


def evaluations(
    path: Path,
    load: Callable,
    *,
    seed: int = 0,
    candidates: int = 100,
    own_replies: bool = False,
    name: str = "",
) -> list[Evaluation]:
    """Return the evaluation of a file or folder; a second one of a module that reads context.

    Replies of authors to themselves count with `own_replies` alone. `name` ends that of results.
    """
    source = ranking_files.find(path)
    if name:
        source = replace(source, name=f"{source.name}-{name}")
    data = ranking_files.read(source, own_replies=own_replies)
    blocks(len(data.pairs), candidates)  # an error before the module is loaded
    encoder = load(data.texts())
    settings: Any = {"candidates": candidates, "seed": seed}
    settings |= {"own_replies": True} if own_replies else {}
    compute = partial(evaluate, encoder, data, candidates=candidates, seed=seed)
    of: Any = {"module": encoder.provenance(), "settings": settings}
    found = [Evaluation(source=source, compute=compute, **of)]
    if getattr(encoder, "reads_context", False) and any(pair.context for pair in data.pairs):
        named = replace(source, name=f"{source.name}{IN_CONTEXT}")
        found.append(Evaluation(source=named, compute=partial(compute, in_context=True), **of))
    return found


def evaluate(
    encoder, data: RankingData, *, candidates: int = 100, seed: int = 0, in_context: bool = False
) -> Result:
    """Rank each true response by dot product among `candidates`; return P@N."""
    pairs = shuffled(data.pairs, seed=seed)
    inputs = [similarity.words(pair.input) for pair in pairs]
    responses = [similarity.words(pair.response) for pair in pairs]
    random, duplicates, items = np.random.default_rng(seed), 0, []
    blocks_of = ranked(encoder, pairs, candidates=candidates, in_context=in_context)
    for rows, columns, ranks, _, negative in blocks_of:
        duplicates += int((~negative).sum()) - len(rows)
        overlaps = np.array(
            [[similarity.word_overlap(inputs[i], responses[j]) for j in columns] for i in rows]
        )
        better, same = compare(overlaps, negative=negative)
        # Most overlaps are 0: ties are broken at random, or this baseline would be below chance.
        by_words = 1 + better + random.integers(0, same, endpoint=True)
        for row, rank, overlap_rank in zip(rows, ranks, by_words, strict=True):
            item = {"input_id": pairs[row].input_id, "response_id": pairs[row].response_id}
            item |= {"block": int(row) // candidates, "rank": int(rank)}
            items.append(item | {"baselines": {"word_overlap": int(overlap_rank)}})
    result = Result(
        task="response_ranking",
        name=f"{data.name}{IN_CONTEXT if in_context else ''}",
        n=len(pairs),
        baselines={"chance": {f"p_at_{n}": min(n, candidates) / candidates for n in AT}},
        counts={"duplicates_left_out": duplicates} | data.counts,
        settings={"candidates": candidates, "seed": seed},
        notes=[CONTEXT_NOTE] if in_context else [],
        items=items,
    )
    return measure.measured(result, [f"p_at_{n}" for n in AT])


def ranked(
    encoder, pairs: list[Pair], *, candidates: int, in_context: bool = False
) -> Iterator[tuple]:
    """Yield each block's rows and columns, its true responses' ranks, all scores, the negatives.

    Ranks are int [rows], from 1; scores float64 [rows, columns]; negatives bool of that shape.
    """
    texts, said = [pair.input for pair in pairs], [pair.response for pair in pairs]
    if in_context:
        inputs = encoder.encode_inputs_in_context(texts, [pair.context for pair in pairs])
    else:
        inputs = encoder.encode_inputs(texts)
    responses = encoder.encode_responses(said).astype(np.float64)
    inputs, replies = inputs.astype(np.float64), np.array(said, dtype=object)
    for rows, columns in blocks(len(pairs), candidates):
        scores = similarity.products(inputs[rows], responses[columns])
        negative = replies[rows][:, None] != replies[columns]
        better, same = compare(scores, negative=negative)
        yield rows, columns, 1 + better + same, scores, negative


def compare(scores: np.ndarray, *, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count the negatives that score better than the true response, and the same: int [block] each.

    `scores` is float64 [block, candidates], with the true response of row i in column i;
    `negative` is bool of that shape, False where the text is the true response's.
    """
    true = np.diagonal(scores)[:, None]
    margin = SAME * np.abs(scores).max(axis=1, keepdims=True)
    same = negative & (np.abs(scores - true) <= margin)
    better = negative & (scores > true) & ~same
    return better.sum(axis=1), same.sum(axis=1)
