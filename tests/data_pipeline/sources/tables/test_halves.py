"""`--pairs_of halves`: a message of two sentences or more becomes a pair of its halves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.sources.halves import LEAST_CHARACTERS, cut_in_half

LINKED = ("--id_field", "n", "--parent_field", "to", "--text_field", "said")
TURNS = ("--thread_field", "talk", "--order_field", "turn", "--text_field", "said")
FIRST, SECOND = "The first sentence is here.", "And the second one is there."


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        (f"{FIRST} {SECOND}", (FIRST, SECOND)),
        (f"{FIRST}\n\n {SECOND}", (FIRST, SECOND)),
        # Of 83 characters 27 are before the second sentence, 54 before the third: nearer to 41.5.
        (f"{FIRST} {FIRST} {SECOND}", (f"{FIRST} {FIRST}", SECOND)),
        (f"Yes! {FIRST} {SECOND}", (f"Yes! {FIRST}", SECOND)),
        (
            "a line without a stop\nand the line after it",
            ("a line without a stop", "and the line after it"),
        ),
        ("一二三四五六七八九十。" * 4, ("一二三四五六七八九十。" * 2,) * 2),
        (f"「{'一' * 20}。」{'二' * 20}。", (f"「{'一' * 20}。」", f"{'二' * 20}。")),
        (f"{'मैं ' * 9}हूँ। {'तुम ' * 9}हो।", (f"{'मैं ' * 9}हूँ।", f"{'तुम ' * 9}हो।")),
        ("nineteen letters it\nand the line after it", None),
        (FIRST, None),
        (f"{FIRST} No.", None),
        ("e.g. version 2.0 of a file.txt has no end of a sentence", None),
        ("", None),
    ],
)
def test_a_text_is_cut_between_sentences(text, halves):
    assert cut_in_half(text) == halves


@given(st.text(alphabet="ab.!?。」 \n", max_size=200))
def test_halves_have_all_characters_of_the_text_in_their_order(text):
    if halves := cut_in_half(text.strip()):
        assert "".join("".join(halves).split()) == "".join(text.split())
        assert min(map(len, halves)) >= LEAST_CHARACTERS


def test_every_kept_message_gives_a_pair(make, write_table, tmp_path):
    rows = [
        {"n": 1, "to": None, "said": f"{FIRST} {SECOND}", "talk": "a", "where": "shop"},
        {"n": 2, "to": 1, "said": "Short.", "talk": "a", "where": "shop"},
        {"n": 3, "to": 99, "said": f"{SECOND} {FIRST}", "talk": "b", "where": "shop"},
        {"n": 4, "to": None, "said": "", "talk": "c", "where": "shop"},
    ]
    asked = ("--input", write_table("c.jsonl", rows), *LINKED, "--thread_field", "talk")
    statistics, pairs = make(
        "conversations", *asked, "--group_field", "where", "--pairs_of", "halves"
    )
    assert [(pair["input"], pair["response"]) for pair in pairs] == [
        (FIRST, SECOND),
        (SECOND, FIRST),
    ]
    assert [(pair["input_id"], pair["response_id"], pair["thread_id"]) for pair in pairs] == [
        ("1:input", "1:response", "a"),
        ("3:input", "3:response", "b"),
    ]
    assert statistics["comments"] == 4
    assert statistics["dropped"] == {"empty": 1, "one_sentence": 1}
    assert statistics["kept"] == statistics["pairs"] == 2
    card = (tmp_path / "out" / "data_card.html").read_text()
    assert "2 pairs of the first and the second half of a message, taken from" in card
    assert json.loads((tmp_path / "out" / "data_card.json").read_text())["subreddits"] == [
        ["shop", 2]
    ]


def test_halves_are_in_the_split_of_the_replies_of_their_thread(make, write_table):
    rows = [
        {"talk": f"t{talk}", "turn": turn, "said": f"{FIRST} {SECOND}"}
        for talk in range(40)
        for turn in range(2)
    ]
    asked = ("conversations", "--input", write_table("c.csv", rows), *TURNS)
    splits = ("--test_fraction", "0.3", "--validation_fraction", "0.3")
    replies, of_replies = make(*asked, *splits, output="replies")
    halves, of_halves = make(*asked, *splits, "--pairs_of", "halves", output="halves")
    assert len({pair["input_id"] for pair in of_halves}) == len(of_halves) == 2 * len(of_replies)
    for split in ("train", "validation", "test"):
        assert halves[f"{split}_pairs"] == 2 * replies[f"{split}_pairs"] > 0


def test_a_message_of_an_evaluation_set_is_excluded_whole(make, write_table, tmp_path):
    rows = [{"talk": n, "turn": 1, "said": f"{FIRST}\n{SECOND} {n}."} for n in range(4)]
    (tmp_path / "sts.txt").write_text(f"{FIRST} {SECOND} 2.\n")
    asked = ("conversations", "--input", write_table("c.jsonl", rows), *TURNS)
    statistics, pairs = make(*asked, "--pairs_of=halves", "--exclude_texts", tmp_path / "sts.txt")
    assert (statistics["excluded"], len(pairs)) == (1, 3)


def test_a_long_run_of_spaces_costs_no_time():
    text = f"One sentence is here.{' ' * 300_000}x{' ' * 300_000}\n Another sentence is there."
    assert cut_in_half(text) is not None
