"""The whole Beam job on small dumps: what it writes."""

import json

import pytest
import tensorflow as tf

RULES = ("deleted", "deleted_later", "length", "alphabetic", "prefix", "bot")


def pairs_in(folder, side):
    """(input, response, input_id, response_id, thread_id, subreddit) of every record."""
    names = ("input", "response", "input_id", "response_id", "thread_id", "subreddit")
    rows = []
    for path in sorted(folder.glob(f"{side}-*-of-*.tfrecord")):
        for record in tf.data.TFRecordDataset(str(path)):
            features = tf.train.Example.FromString(record.numpy()).features.feature
            rows.append(tuple(features[name].bytes_list.value[0].decode() for name in names))
    return rows


def test_one_of_everything(run, world, tmp_path, capsys, statistics_of):
    output = tmp_path / "out"
    run("--input", f"{tmp_path}/RC_1.zst,{tmp_path}/RC_2.*", "--output", output)
    assert statistics_of(output) == {
        "lines": 13,
        "malformed": 2,
        "duplicates": 1,
        "comments": 10,
        "dropped": {"deleted": 1, "deleted_later": 0} | dict.fromkeys(RULES[2:], 1),
        "kept": 5,
        "replies": 4,
        "pairs": 2,
        "train_pairs": len(pairs_in(output, "train")),
        "test_pairs": len(pairs_in(output, "test")),
        "test_pairs_in_train": 0,
    }
    assert sorted(pairs_in(output, "train") + pairs_in(output, "test")) == [
        ("an answer > to it", "a reply", "c2", "d1", "t3_p", "other"),
        ("what are the words of c1", "an answer > to it", "c1", "c2", "t3_p", "sub"),
    ]
    letters = [
        json.loads(line)
        for path in output.glob("dead_letters-*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert [(letter["file"], letter["line"]) for letter in letters] == [
        (f"{tmp_path}/RC_1.zst", 4),
        (f"{tmp_path}/RC_2.bz2", 7),
    ]
    card = json.loads((output / "data_card.json").read_text())
    assert card["months"] == [["2015-02", 1], ["unknown", 1]]
    assert letters[0]["raw"] == '{"id": "broken'
    assert "parent_id" in letters[1]["reason"]
    assert not (output / "_incomplete").exists()
    assert "pairs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ["RC_2006-01.bz2"],
            {
                **{"lines": 3666, "comments": 3666, "kept": 2275, "replies": 732, "pairs": 422},
                "dropped": dict(zip(RULES, (529, 0, 677, 184, 0, 1), strict=True)),
            },
        ),
        (
            ["RC_2005-12.bz2", "RC_2006-01.bz2", "RC_2006-02.bz2"],
            {"comments": 13836, "kept": 8257, "replies": 3200, "pairs": 1795},
        ),
    ],
)
def test_counts_of_real_months(run, real_data, tmp_path, names, expected, statistics_of):
    files = ",".join(str(real_data / "reddit" / name) for name in names)
    run("--input", files, "--output", tmp_path / "out")
    statistics = statistics_of(tmp_path / "out")
    assert {key: statistics[key] for key in expected} == expected
    assert statistics["train_pairs"] + statistics["test_pairs"] == statistics["pairs"]
