import math

import numpy as np

from evaluation.data import cqa_files
from evaluation.encoders.words import Bm25
from evaluation.tasks import cqa

TEXTS = ["a b", "b b c", "d", "e", "f"]


def scores(encoder, queries, documents):
    return (encoder.encode_inputs(queries) @ encoder.encode_responses(documents).T).toarray()


def test_bm25_by_hand():
    # 5 documents of 8/5 words on average; "a" is in one of them, "b" in two.
    found = scores(Bm25().fit(TEXTS), ["A", "a b", "b b", "unknown"], ["a b", "b b c"])

    def part(count, length):
        return count / (1.5 * (0.25 + 0.75 * length / 1.6) + count)

    a, b = math.log((5 - 1 + 0.5) / (1 + 0.5)), math.log((5 - 2 + 0.5) / (2 + 0.5))
    expected = [
        [a * part(1, 2), 0],
        [a * part(1, 2) + b * part(1, 2), b * part(2, 3)],
        [2 * b * part(1, 2), 2 * b * part(2, 3)],
        [0, 0],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_candidates_are_ranked_by_their_scores_as_documents():
    def candidate(text, *, relevant):
        return cqa_files.Candidate(text, relevant=relevant, engine_score=1.0, text=text)

    candidates = [candidate("b b c", relevant=False), candidate("a b", relevant=True)]
    query = cqa_files.Query("q", text="a", candidates=candidates)
    data = cqa_files.QueryData("cqa-x", [query], has_text=True)
    found = cqa.evaluate(Bm25().fit(["a", *TEXTS]), data)
    assert found.items[0]["score"] == 0.0
    assert found.metrics["map"] == 1.0
