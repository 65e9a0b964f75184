import dataclasses

import numpy as np
import pytest

from common.errors import InputError
from common.text_files import TextPairs
from evaluation.data import ranking_files
from evaluation.results import measure
from evaluation.tasks import evaluate
from evaluation.tasks import response_ranking as ranking


def pair(number, *, text=None, question=None):
    question = question or f"question {number}"
    return ranking_files.Pair(question, text or f"answer {number}", f"i{number}", f"r{number}")


@pytest.fixture
def scored(fake_encoder):
    """Score pairs; without vectors each has a dimension of its own: every true response wins."""

    def score(pairs, inputs=None, responses=None, *, candidates, seed=0):
        eye = np.eye(len(pairs))
        encoder = fake_encoder(
            inputs or {pair.input: eye[i] for i, pair in enumerate(pairs)},
            responses or {pair.response: eye[i] for i, pair in enumerate(pairs)},
        )
        data = TextPairs("response_ranking", pairs)
        return ranking.evaluate(encoder, data, candidates=candidates, seed=seed)

    return score


def ranks(result, of=lambda item: item["rank"]):
    return {item["input_id"]: of(item) for item in result.items}


def ranks_of_overlap(result):
    return ranks(result, lambda item: item["baselines"]["word_overlap"])


class ReadsContext:
    """A module for which only the context of an input says which response is the true one."""

    reads_context = True

    def encode_inputs(self, sentences):
        return np.ones((len(sentences), 4), np.float32)

    def encode_inputs_in_context(self, sentences, contexts):
        return np.eye(4, dtype=np.float32)[[int(text) for text in contexts]]

    def encode_responses(self, sentences):
        return np.eye(4, dtype=np.float32)[[int(text.split()[1]) for text in sentences]]

    def provenance(self):
        return {"path": "module", "fingerprint": "1"}


def test_a_module_that_reads_context_is_scored_alone_and_in_context(write_records):
    texts = ("input", "response")
    records = [{name: f"{name} {n}" for name in texts} | {"context/0": str(n)} for n in range(4)]
    path = write_records("test-0.tfrecord", records)
    alone, in_context = evaluate(ReadsContext(), "response_ranking", path, candidates=4)
    assert (alone.name, alone.metrics["p_at_1"]) == ("response_ranking", 0.0)
    assert ranking.CONTEXT_NOTE not in alone.notes
    assert in_context.name == "response_ranking-in-context"
    assert in_context.metrics["p_at_1"] == 1.0
    assert ranking.CONTEXT_NOTE in in_context.notes
    assert alone.baselines == in_context.baselines
    for record in records:
        del record["context/0"]
    path = write_records("test-1.tfrecord", records)
    (found,) = evaluate(ReadsContext(), "response_ranking", path, candidates=4)
    assert found.metrics["p_at_1"] == 0.0


def test_vectors_that_are_no_numbers_find_nothing(scored):
    with pytest.raises(InputError, match="not finite"):
        scored([pair(0), pair(1)], {"question 0": [1, 0], "question 1": [np.nan, 0]}, candidates=2)


def test_order_depends_on_pairs_and_seed_alone():
    pairs = [pair(i) for i in range(50)]
    first = ranking.shuffled(pairs, seed=0)
    assert ranking.shuffled(pairs[::-1], seed=0) == first
    assert first != pairs
    assert ranking.shuffled(pairs, seed=1) != first
    assert set(first) == set(pairs)
    # By SHA-256 of seed, ids and texts with NULs between them; computed once with hashlib.
    assert ranking.shuffled(pairs[:6], seed=7) == [pairs[n] for n in (4, 5, 2, 3, 0, 1)]


def test_compare_by_hand():
    scores = np.array([[5.0, 6.0, 5.0, 1.0, 9.0], [3.0, 2.0, 2.0 + 1e-7, 0.0, 9.0]])
    negative = np.array([[False, True, True, True, False], [True, False, True, True, True]])
    better, same = ranking.compare(scores, negative=negative)
    # Row 0: 6 is better, 5 the same, 9 is the true text again. Row 1: 3 and 9 are better, and
    # 1e-7 is not a difference in float32.
    assert better.tolist() == [1, 2]
    assert same.tolist() == [1, 1]


def test_perfect_and_reversed_scores(scored):
    pairs = [pair(i) for i in range(11)]
    perfect = scored(pairs, candidates=4)
    assert perfect.metrics == {"p_at_1": 1.0, "p_at_3": 1.0, "p_at_10": 1.0}
    assert (perfect.n, len(perfect.items)) == (11, 11)
    # By hand: the first block, of four pairs, twice, and the last, of three, once.
    items = [item | {"rank": 1 + (item["block"] == 2)} for item in perfect.items]
    sample = measure.sample_of(dataclasses.replace(perfect, items=items))
    assert sample.metrics(np.array([0, 0, 2]))["p_at_1"] == 8 / 11
    opposite = {one.response: -row for one, row in zip(pairs, np.eye(11), strict=True)}
    reverse = scored(pairs, responses=opposite, candidates=4)
    assert {item["rank"] for item in reverse.items} == {4}
    assert reverse.metrics == {"p_at_1": 0.0, "p_at_3": 0.0, "p_at_10": 1.0}
    assert reverse.settings == {"candidates": 4, "seed": 0}
    assert reverse.baselines["chance"] == {"p_at_1": 0.25, "p_at_3": 0.75, "p_at_10": 1.0}


def test_dot_product_not_cosine(scored):
    inputs = {"question 0": [1.0, 0.0], "question 1": [0.0, 1.0]}
    responses = {"answer 0": [1.0, 0.0], "answer 1": [5.0, 6.0]}
    assert ranks(scored([pair(0), pair(1)], inputs, responses, candidates=2)) == {"i0": 2, "i1": 1}


def test_a_module_that_cannot_tell_responses_apart_finds_none(scored):
    pairs = [pair(i) for i in range(20)]
    same = {text: [1.0, 0.0] for p in pairs for text in (p.input, p.response)}
    assert set(scored(pairs, same, same, candidates=20).metrics.values()) == {0.0}


def test_duplicates_of_the_true_response_are_no_negatives(scored):
    pairs = [pair(0, text="yes"), pair(1, text="yes"), pair(2, text="yes"), pair(3, text="no")]
    result = scored(pairs, candidates=4)
    # Each "yes" meets two others.
    assert result.counts == {"duplicates_left_out": 6}
    # All three "yes" share the vector of the last; only question 2 points there, and questions 0
    # and 1 score 0 with "yes" and with "no": a tie with another text, so rank 2, not 4.
    assert ranks(result) == {"i0": 2, "i1": 2, "i2": 1, "i3": 1}


def test_word_overlap_ranks_by_hand(scored):
    pairs = [
        # 1 of 6 words with its own response, 1 of 5 with the second, 3 of 5 with the third.
        pair(0, question="ant cow doe fox gnu", text="ant hen"),
        # All with its own, none with another.
        pair(1, question="cow", text="cow"),
        # 1 of 5 with its own, 1 of 4 with the first, none with the second.
        pair(2, question="doe elk ant", text="doe fox gnu"),
    ]
    found = scored(pairs, candidates=3)
    assert ranks_of_overlap(found) == {"i0": 3, "i1": 1, "i2": 2}
    assert found.baselines["word_overlap"] == {"p_at_1": 1 / 3, "p_at_3": 1, "p_at_10": 1}


def test_ties_of_word_overlap_are_broken_by_the_seed(scored):
    pairs = [pair(i, text=f"a{i}", question=f"q{i}") for i in range(400)]
    first, again, other = (scored(pairs, candidates=20, seed=seed) for seed in (3, 3, 4))
    drawn = ranks_of_overlap(first)
    assert ranks_of_overlap(again) == drawn != ranks_of_overlap(other)
    assert set(drawn.values()) == set(range(1, 21))
    assert 0.35 < first.baselines["word_overlap"]["p_at_10"] < 0.65  # chance, not nothing


def test_replies_to_oneself_are_left_out_and_counted(write_records, tmp_path):
    """Of eight pairs, two have one author."""
    records = [
        {"input": str(n), "response": f"response {n % 4}", "own_reply": "true" if n < 2 else mark}
        for n, mark in enumerate(["", "", "false", "", "false", "", "false", ""])
    ]
    path = write_records("test-0.tfrecord", records)

    def scored(**more):
        of = {"candidates": 4, "output": tmp_path / "results", **more}
        (found,) = evaluate(ReadsContext(), "response_ranking", path, **of)
        return found

    result = scored()
    assert (result.n, result.counts["own_replies_left_out"]) == (6, 2)
    with pytest.raises(InputError, match="own_replies"):
        scored(own_replies=True)
    everything = scored(own_replies=True, again=True)
    assert (everything.n, everything.counts["own_replies_left_out"]) == (8, 0)
    with pytest.raises(InputError, match="own_replies"):
        scored()


def record(number, **changed):
    ids = {"input_id": f"i{number}", "response_id": f"r{number}"}
    return {"input": f"question {number}", "response": f"answer {number}"} | ids | changed


def read(path):
    return ranking_files.read(ranking_files.find(path))


def test_reads_every_test_shard(write_records, tmp_path):
    first = write_records("test-00000-of-00003.tfrecord", [record(0), record(1)])
    write_records("test-00001-of-00003.tfrecord", [])
    write_records("test-00002-of-00003.tfrecord.gz", [record(2, response="caf\u00e9")])
    write_records("train-00000-of-00001.tfrecord", [record(3)])
    found = read(tmp_path)
    assert found.name == "response_ranking"
    expected = [
        ranking_files.Pair(**one) for one in (record(0), record(1), record(2, response="caf\u00e9"))
    ]
    assert found.pairs == expected
    assert read(first).pairs == expected[:2]
    assert read(tmp_path / "test-0000[02]-of-*").pairs == expected
    with pytest.raises(InputError, match="other-"):
        read(tmp_path / "other-*")


def test_records_without_ids_come_in_one_order_however_they_are_spread(write_records):
    texts = [{"input": f"question {n}", "response": f"answer {n}"} for n in range(6)]
    whole = read(write_records("whole/test-0.tfrecord", texts)).pairs
    for number, part in enumerate((texts[4:], texts[:4])):
        write_records(f"parts/test-0000{number}-of-00002.tfrecord", part)
    parts = read(write_records("parts/train-0.tfrecord", []).parent).pairs
    assert parts != whole
    assert ranking_files.shuffled(parts, seed=0) == ranking_files.shuffled(whole, seed=0)
    assert len({pair.input_id for pair in whole} | {pair.response_id for pair in whole}) == 12


def test_the_context_is_one_text_the_nearest_message_first(write_records):
    turns = [("near", "far"), ("near", ""), ("", "")]
    records = [
        record(n, **{f"context/{k}": turn for k, turn in enumerate(of_pair)})
        for n, of_pair in enumerate(turns)
    ]
    contexts = [pair.context for pair in read(write_records("test-0.tfrecord", records)).pairs]
    assert contexts == ["near far", "near", ""]


WITHOUT_ID = {key: value for key, value in record(1).items() if key != "response_id"}


@pytest.mark.parametrize(
    ("wrong", "named"), [(WITHOUT_ID, "response_id"), (record(1, response=b"\xff"), "utf-8")]
)
def test_records_that_are_no_pairs_are_named(write_records, wrong, named):
    path = write_records("test-0.tfrecord", [record(0), wrong])
    with pytest.raises(InputError, match=rf"test-0\.tfrecord: record 2: .*{named}"):
        read(path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_cut_off_anywhere_is_damaged(write_records, tmp_path, suffix):
    path = write_records(f"test-0.tfrecord{suffix}", [record(n) for n in range(4)])
    stored = path.read_bytes()
    assert len(read(path).pairs) == 4
    ends = {len(stored) // 4 * n for n in range(5)} if not suffix else set()  # whole records
    for end in set(range(1, len(stored))) - ends:
        path.write_bytes(stored[:end])
        with pytest.raises(InputError, match=r"test-0\.tfrecord"):
            read(path)
    flipped = bytes([*stored[:-9], stored[-9] ^ 1, *stored[-8:]])
    for wrong in (flipped, b"this is not a TFRecord file at all\n", b""):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=r"test-0\.tfrecord"):
            read(path)
