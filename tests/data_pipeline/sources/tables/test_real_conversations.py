"""Real conversations that are not Reddit's, every count against a few lines of Python."""

import gzip
import json
from collections import Counter

import pytest


@pytest.fixture(scope="module")
def folder(real_data):
    found = real_data / "conversations"
    if not found.is_dir():
        pytest.skip("the real data hold no conversations")
    return found


def test_every_count_of_linked_messages(make, folder):
    path = folder / "ubuntu_irc.jsonl.gz"
    statistics, pairs = make(
        *("conversations", "--input", path, "--id_field", "message_id", "--text_field", "said"),
        *("--parent_field", "in_reply_to", "--thread_field", "day", "--author_field", "nick"),
    )
    rows = list(map(json.loads, gzip.decompress(path.read_bytes()).splitlines()))
    said = {row["message_id"]: row["said"].strip() for row in rows if row["said"].strip()}
    nicks = {row["message_id"]: row["nick"] for row in rows}
    replies = [r for r in rows if r["message_id"] in said and r.get("in_reply_to")]
    answered = [r for r in replies if r["in_reply_to"] in said]
    assert (len(rows), len(replies)) == (63_029, 56_721)
    splits = Counter(train=statistics.pop("train_pairs"), test=statistics.pop("test_pairs"))
    assert splits.total() == len(answered)
    assert 0.05 < splits["test"] / len(answered) < 0.15
    assert statistics == {
        "lines": len(rows),
        "malformed": 0,
        "duplicates": 0,
        "comments": len(rows),
        "dropped": {"empty": len(rows) - len(said)},
        "kept": len(said),
        "replies": len(replies),
        "pairs": len(answered),
        "own_replies": sum(r["nick"] == nicks[r["in_reply_to"]] for r in answered),
        "test_pairs_in_train": 15,
    }
    expected = [
        (said[r["in_reply_to"]], said[r["message_id"]], r["message_id"], r["day"]) for r in answered
    ]
    assert sorted(expected) == sorted(
        (p["input"], p["response"], p["response_id"], p["thread_id"]) for p in pairs
    )
