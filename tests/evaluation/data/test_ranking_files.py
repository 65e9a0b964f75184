import pytest

from common.errors import InputError
from evaluation.data import ranking_files


def pair(number, **changed):
    ids = {"input_id": f"i{number}", "response_id": f"r{number}"}
    return {"input": f"question {number}", "response": f"answer {number}"} | ids | changed


def read(path):
    return ranking_files.read(ranking_files.find(path))


def test_reads_every_test_shard(write_records, tmp_path):
    first = write_records("test-00000-of-00003.tfrecord", [pair(0), pair(1)])
    write_records("test-00001-of-00003.tfrecord", [])
    write_records("test-00002-of-00003.tfrecord.gz", [pair(2, response="caf\u00e9")])
    write_records("train-00000-of-00001.tfrecord", [pair(3)])
    found = read(tmp_path)
    assert found.name == "response_ranking"
    expected = [
        ranking_files.Pair(**one) for one in (pair(0), pair(1), pair(2, response="caf\u00e9"))
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
        pair(n, **{f"context/{k}": turn for k, turn in enumerate(of_pair)})
        for n, of_pair in enumerate(turns)
    ]
    contexts = [pair.context for pair in read(write_records("test-0.tfrecord", records)).pairs]
    assert contexts == ["near far", "near", ""]


WITHOUT_ID = {key: value for key, value in pair(1).items() if key != "response_id"}


@pytest.mark.parametrize(
    ("record", "named"), [(WITHOUT_ID, "response_id"), (pair(1, response=b"\xff"), "utf-8")]
)
def test_records_that_are_no_pairs_are_named(write_records, record, named):
    path = write_records("test-0.tfrecord", [pair(0), record])
    with pytest.raises(InputError, match=rf"test-0\.tfrecord: record 2: .*{named}"):
        read(path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_cut_off_anywhere_is_damaged(write_records, tmp_path, suffix):
    path = write_records(f"test-0.tfrecord{suffix}", [pair(n) for n in range(4)])
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
