import numpy as np
import pytest

from common.errors import InputError
from evaluation.data import ranking_files
from evaluation.results import measure
from evaluation.tasks import response_ranking as ranking
from evaluation.tasks.evaluate import evaluate


def pair(number, *, text=None, question=None):
    question = question or f"question {number}"
    return ranking_files.Pair(question, text or f"answer {number}", f"i{number}", f"r{number}")


def example(pair, **replaced):
    values = {key: getattr(pair, key) for key in ("input", "response", "input_id", "response_id")}
    return {key: value for key, value in (values | replaced).items() if value is not None}


def one_hot_encoder(fake_encoder, pairs):
    """Give each pair a dimension of its own: every true response wins."""
    eye = np.eye(len(pairs))
    return fake_encoder(
        {pair.input: eye[i] for i, pair in enumerate(pairs)},
        {pair.response: eye[i] for i, pair in enumerate(pairs)},
    )


def data(pairs):
    return ranking_files.RankingData("response_ranking", pairs)


def read(path):
    (source,) = ranking_files.find(path)
    return ranking_files.read(source)


def test_reads_every_test_shard(write_records, tmp_path):
    first = write_records("test-00000-of-00003.tfrecord", [example(pair(0)), example(pair(1))])
    write_records("test-00001-of-00003.tfrecord", [])
    write_records("test-00002-of-00003.tfrecord.gz", [example(pair(2, text="caf\u00e9"))])
    write_records("train-00000-of-00001.tfrecord", [example(pair(3))])
    found = read(tmp_path)
    assert found.name == "response_ranking"
    assert found.pairs == [pair(0), pair(1), pair(2, text="caf\u00e9")]
    assert read(first).pairs == [pair(0), pair(1)]


def test_records_without_ids_get_them_from_their_place(write_records):
    none = {"input_id": None, "response_id": None}
    path = write_records("test-0.tfrecord", [example(pair(n), **none) for n in range(2)])
    ids = [(found.input_id, found.response_id) for found in read(path).pairs]
    assert ids == [
        ("test-0.tfrecord:1:input", "test-0.tfrecord:1:response"),
        ("test-0.tfrecord:2:input", "test-0.tfrecord:2:response"),
    ]


def test_the_context_is_one_text_the_nearest_message_first(write_records):
    turns = [("near", "far"), ("near", ""), ("", "")]
    records = [
        example(pair(n), **{f"context/{k}": turn for k, turn in enumerate(of_pair)})
        for n, of_pair in enumerate(turns)
    ]
    contexts = [pair.context for pair in read(write_records("test-0.tfrecord", records)).pairs]
    assert contexts == ["near far", "near", ""]


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
    records = [example(pair(n), **{"context/0": str(n)}) for n in range(4)]
    path = write_records("test-0.tfrecord", records)
    alone, in_context = evaluate(ReadsContext(), "response_ranking", path, candidates=4, at=[1])
    assert (alone.name, alone.metrics["p_at_1"]) == ("response_ranking", 0.0)
    assert ranking.CONTEXT_NOTE not in alone.notes
    assert in_context.name == "response_ranking-in-context"
    assert in_context.metrics["p_at_1"] == 1.0
    assert ranking.CONTEXT_NOTE in in_context.notes
    assert alone.baselines == in_context.baselines
    path = write_records("test-1.tfrecord", [example(pair(n)) for n in range(4)])  # no context
    (found,) = evaluate(ReadsContext(), "response_ranking", path, candidates=4, at=[1])
    assert found.metrics["p_at_1"] == 0.0


@pytest.mark.parametrize(
    ("replaced", "named"),
    [({"response_id": None}, "response_id"), ({"response": b"\xff"}, "utf-8")],
)
def test_records_that_are_no_pairs_are_named(write_records, replaced, named):
    path = write_records("test-0.tfrecord", [example(pair(0)), example(pair(1), **replaced)])
    with pytest.raises(InputError, match=rf"test-0\.tfrecord: record 2: .*{named}"):
        read(path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_cut_off_anywhere_is_damaged(write_records, tmp_path, suffix):
    path = write_records(f"test-0.tfrecord{suffix}", [example(pair(n)) for n in range(4)])
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


def test_sides_of_two_widths_are_named(fake_encoder):
    pairs = [pair(n) for n in range(3)]
    vectors = {one.input: [1.0, 0.0] for one in pairs}
    encoder = fake_encoder(vectors, {one.response: [1.0] for one in pairs})
    with pytest.raises(InputError, match="2 numbers and its responses 1"):
        ranking.evaluate(encoder, data(pairs), candidates=2)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_no_numbers_find_nothing(fake_encoder, value):
    pairs = [pair(n) for n in range(3)]
    encoder = one_hot_encoder(fake_encoder, pairs)
    encoder.vectors["question 1"] = np.array([value, 0, 0])
    with pytest.raises(InputError, match="not finite"):
        ranking.evaluate(encoder, data(pairs), candidates=2)


def test_blocks_cover_every_pair_once_and_are_always_full():
    layout = ranking.blocks(7, 3)
    assert [rows.tolist() for rows, _ in layout] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [columns.tolist() for _, columns in layout] == [[0, 1, 2], [3, 4, 5], [6, 0, 1]]
    assert [len(columns) for _, columns in ranking.blocks(6, 3)] == [3, 3]


def test_order_depends_on_pairs_and_seed_alone():
    pairs = [pair(i) for i in range(50)]
    first = ranking.shuffled(pairs, seed=0)
    assert ranking.shuffled(pairs[::-1], seed=0) == first
    assert first != pairs
    assert ranking.shuffled(pairs, seed=1) != first
    assert sorted(p.input_id for p in first) == sorted(p.input_id for p in pairs)


def test_compare_by_hand():
    scores = np.array([[5.0, 6.0, 5.0, 1.0, 9.0], [3.0, 2.0, 2.0 + 1e-7, 0.0, 9.0]])
    negative = np.array([[False, True, True, True, False], [True, False, True, True, True]])
    better, same = ranking.compare(scores, negative=negative)
    # Row 0: 6 is better, 5 the same, 9 is the true text again. Row 1: 3 and 9 are better, and
    # 1e-7 is not a difference in float32.
    assert better.tolist() == [1, 2]
    assert same.tolist() == [1, 1]


def test_how_near_scores_are_the_same():
    # The largest is 2, so up to 2e-6 away from the true response's 1 is the same.
    scores = np.array([[1.0, 1.000003, 1.000001, 0.999999, 0.999997, 2.0]])
    negative = np.array([[False, True, True, True, True, False]])
    better, same = ranking.compare(scores, negative=negative)
    assert (better.tolist(), same.tolist()) == ([1], [2])
    assert ranking.compare(100 * scores, negative=negative)[1].tolist() == [2]


@pytest.mark.parametrize(("behind", "rank"), [(1e-3, 1), (1e-5, 1), (1e-7, 2), (-1e-5, 2)])
def test_a_response_that_is_a_little_ahead_is_found(fake_encoder, behind, rank):
    pairs = [pair(0), pair(1)]
    encoder = fake_encoder(
        {"question 0": [1.0, 0.0], "question 1": [0.0, 1.0]},
        {"answer 0": [1.0, 0.0], "answer 1": [1.0 - behind, 1.0]},
    )
    found = ranking.evaluate(encoder, data(pairs), candidates=2)
    ranks = {item["input_id"]: item["rank"] for item in found.items}
    assert ranks == {"i0": rank, "i1": 1}
    assert found.metrics["p_at_1"] == (1.0 if rank == 1 else 0.5)


def test_perfect_and_reversed_scores(fake_encoder):
    pairs = [pair(i) for i in range(11)]
    perfect = ranking.evaluate(one_hot_encoder(fake_encoder, pairs), data(pairs), candidates=4)
    assert perfect.metrics == {"p_at_1": 1.0, "p_at_3": 1.0, "p_at_10": 1.0}
    assert (perfect.n, len(perfect.items)) == (11, 11)
    encoder = one_hot_encoder(fake_encoder, pairs)
    encoder.responses = {text: -row for text, row in encoder.responses.items()}
    reverse = ranking.evaluate(encoder, data(pairs), candidates=4)
    assert {item["rank"] for item in reverse.items} == {4}
    assert reverse.metrics == {"p_at_1": 0.0, "p_at_3": 0.0, "p_at_10": 1.0}
    assert reverse.settings == {"candidates": 4, "seed": 0}
    assert reverse.baselines["chance"] == {"p_at_1": 0.25, "p_at_3": 0.75, "p_at_10": 1.0}


def test_dot_product_not_cosine(fake_encoder):
    pairs = [pair(0), pair(1)]
    encoder = fake_encoder(
        {"question 0": [1.0, 0.0], "question 1": [0.0, 1.0]},
        {"answer 0": [1.0, 0.0], "answer 1": [5.0, 6.0]},
    )
    ranks = {
        item["input_id"]: item["rank"]
        for item in ranking.evaluate(encoder, data(pairs), candidates=2).items
    }
    assert ranks == {"i0": 2, "i1": 1}


def test_a_module_that_cannot_tell_responses_apart_finds_none(fake_encoder):
    pairs = [pair(i) for i in range(20)]
    same = {text: [1.0, 0.0] for p in pairs for text in (p.input, p.response)}
    result = ranking.evaluate(fake_encoder(same), data(pairs), candidates=20)
    assert result.metrics == {"p_at_1": 0.0, "p_at_3": 0.0, "p_at_10": 0.0}


def test_duplicates_of_the_true_response_are_no_negatives(fake_encoder):
    pairs = [pair(0, text="yes"), pair(1, text="yes"), pair(2, text="yes"), pair(3, text="no")]
    result = ranking.evaluate(one_hot_encoder(fake_encoder, pairs), data(pairs), candidates=4)
    # Each "yes" meets two others.
    assert result.counts == {"duplicates_left_out": 6}
    # All three "yes" share the vector of the last; only question 2 points there, and questions 0
    # and 1 score 0 with "yes" and with "no": a tie with another text, so rank 2, not 4.
    ranks = {item["input_id"]: item["rank"] for item in result.items}
    assert ranks == {"i0": 2, "i1": 2, "i2": 1, "i3": 1}


def test_word_overlap_baseline(fake_encoder):
    words = ["apple", "bear", "cloud", "door"]
    pairs = [pair(i, text=f"{w} yes", question=f"{w}?") for i, w in enumerate(words)]
    result = ranking.evaluate(one_hot_encoder(fake_encoder, pairs), data(pairs), candidates=4)
    assert result.baselines["word_overlap"]["p_at_1"] == 1.0
    # Without shared words all tie: about chance, not nothing.
    pairs = [pair(i, text=f"a{i}", question=f"q{i}") for i in range(400)]
    result = ranking.evaluate(one_hot_encoder(fake_encoder, pairs), data(pairs), candidates=20)
    assert 0.35 < result.baselines["word_overlap"]["p_at_10"] < 0.65


def test_any_n(fake_encoder):
    pairs = [pair(i) for i in range(12)]
    encoder = one_hot_encoder(fake_encoder, pairs)
    found = ranking.evaluate(encoder, data(pairs), candidates=6, at=(2, 5))
    assert found.metrics == {"p_at_2": 1.0, "p_at_5": 1.0}
    assert found.baselines["chance"] == {"p_at_2": 2 / 6, "p_at_5": 5 / 6}
    assert set(measure.with_intervals(found, seed=0).intervals) == {"p_at_2", "p_at_5"}
    for wrong in (0, 7):
        with pytest.raises(InputError, match=f"--at is {wrong}"):
            ranking.evaluate(encoder, data(pairs), candidates=6, at=(1, wrong))
    for wrong in (1, 13):
        with pytest.raises(InputError, match=f"--candidates is {wrong}"):
            ranking.evaluate(encoder, data(pairs), candidates=wrong)
