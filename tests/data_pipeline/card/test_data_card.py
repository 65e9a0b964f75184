import copy
import json
import re

import pytest

from data_pipeline.card import data_card
from data_pipeline.sources.exports.options import FORMATS, export_of
from data_pipeline.sources.rules import SETTINGS

NASTY = "<script>alert('x')</script> & \"quotes\""
ESCAPED = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;quotes&#34;"

SMALL = json.loads("""{
"version": "0.1.0", "made": "2026-11-21",
"source": {"name": "Reddit", "message": "comment", "group": "subreddit", "file": "dump file"},
"options": {"split_by": "thread", "test_fraction": 0.15, "gzip": true, "context_turns": 0,
    "min_score": null, "subreddits": ["askreddit", "pics"], "bots": []},
"inputs": [
    {"file": "/d/RC_1", "bytes": 1111111, "crc32c": "1a2b3c4d", "lines": 1500, "malformed": 2},
    {"file": "/d/RC_2", "bytes": 2222222, "crc32c": "5e6f7a8b", "lines": 2500, "malformed": 1}],
"counts": {"lines": 4000, "malformed": 3, "duplicates": 37, "comments": 3960,
    "dropped": {"deleted": 99, "length": 396, "alphabetic": 33, "prefix": 0, "bot": 1},
    "kept": 3431, "replies": 2573, "pairs": 1286, "excluded": 13, "copies_dropped": 26,
    "train_pairs": 1122, "test_pairs": 125},
"dropped_examples": {"length": ["a text to be cut"], "deleted": [""], "bot": ["beep"]},
"malformed_reasons": {"not JSON": 2, "field 'body' must be a string, but is missing": 1},
"input_characters": [[10, 600], [30, 647]], "response_characters": [[0, 623], [10, 624]],
"subreddits": [["AskReddit", 1000], ["pics", 247]], "n_subreddits": 2,
"months": [["2014-12", 500], ["2015-02", 744], ["unknown", 3]],
"example_pairs": [
    {"input": "How old?", "response": "20.", "context": ["near", "far"], "subreddit": "pics"}],
"outputs": [
    {"file": "train-0", "bytes": 77777, "crc32c": "ee", "records": 1122},
    {"file": "test-0", "bytes": 8888, "crc32c": "ff", "records": 125},
    {"file": "dead_letters-00000-of-00001.jsonl", "bytes": 88, "crc32c": "dd", "records": 2}]
}""")
SMALL["dropped_examples"]["length"] = ["word " * 8000, "x" * 201]


def nothing_in(value):
    """The same card of a job that found nothing."""
    if isinstance(value, dict):
        return {name: nothing_in(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return []
    return 0 if isinstance(value, int) else value


def rows(page):
    """The text of each table row, tags and runs of white space dropped."""
    found = re.findall(r"<tr.*?</tr>", page, flags=re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in found]


@pytest.fixture(scope="module")
def page():
    return data_card.render(SMALL)


def test_the_page_says_what_and_how_many_the_pairs_are(page):
    said = " ".join(page.split())
    for number in ("1,247 pairs", "3,960 comments", "2 dump files", "2014-12", "2015-02"):
        assert number in said
    one = nothing_in(SMALL)
    one["counts"]["train_pairs"] = 1
    assert "1 pair of" in data_card.render(one)


def test_shares_are_those_of_the_whole_they_are_part_of(page):
    found = rows(page)
    for start in [
        "lines 4,000 ",
        "malformed 3 0.1% of lines",  # 0.075
        "duplicates 37 0.9% of lines",  # 0.925
        "comments 3,960 99.0% of lines",
        "dropped 529 13.4% of comments",  # 13.36
        "kept 3,431 86.6% of comments",  # 86.64
        "replies 2,573 75.0% of kept",  # 74.99
        "pairs 1,286 50.0% of replies",  # 49.98
        "copies dropped 26 2.0% of pairs",  # 2.02
        "train pairs 1,122 87.2% of pairs",  # 87.25
        "test pairs 125 9.7% of pairs",  # 9.72
        "alphabetic 33 0.8%",  # 0.83 of 3,960 comments
        "bot 1 &lt;0.1%",
        "AskReddit 1,000 80.2%",  # of 1,247 pairs written
        "2014-12 500 40.1%",
        "unknown 3 0.2%",
        "0 to 9 0 623",
        "10 to 19 600 624",
        "30 to 39 647 0",
        "not JSON 2 66.7%",
        "/d/RC_1 1,500 2 1,111,111 1a2b3c4d",
        "2 files 4,000 3 3,333,333",
        "test-0 125 8,888 ff",
        "gzip on",
        "min_score off",
        "subreddits askreddit, pics",
    ]:
        assert [row for row in found if row.startswith(start)], start


def test_a_share_says_none_and_all_only_of_none_and_all():
    assert [data_card.share(part, 10_000) for part in (0, 1, 5, 9_994, 9_995, 9_999, 10_000)] == (
        ["0.0%", "<0.1%", "0.1%", "99.9%", ">99.9%", ">99.9%", "100.0%"]
    )
    assert (data_card.share(1, 8), data_card.share(0, 0)) == ("12.5%", "0.0%")


def test_texts_are_cut(page):
    assert data_card.cut("ab\n\n cd", 5) == "ab cd"
    assert data_card.cut("abcdef", 6) == "abcdef"
    assert data_card.cut("abc defg", 5) == "abc… (8 characters)"
    assert data_card.cut(" \n") == "(empty)"
    assert f"{'word ' * 39}word… (40,000 characters)" in page
    assert f"{'x' * 199}… (201 characters)" in page
    assert "x" * 200 not in page


def test_context_stands_in_the_order_in_which_it_was_said(page):
    said = [page.index(f"<bdi>{text}</bdi>") for text in ("far", "near", "How old?", "20.")]
    assert said == sorted(said)
    assert "<bdi>r/pics</bdi>" in page


def test_what_strangers_wrote_is_escaped_everywhere():
    card = copy.deepcopy(SMALL)
    card["options"] = {NASTY: NASTY}
    card["inputs"][0]["file"] = card["outputs"][0]["file"] = NASTY
    card["dropped_examples"] = {"length": [NASTY]}
    card["malformed_reasons"] = {NASTY: 3}
    card["subreddits"] = [[NASTY, 1247]]
    card["example_pairs"] = [
        {"input": NASTY, "response": NASTY, "context": [NASTY], "subreddit": NASTY}
    ]
    page = data_card.render(card)
    assert "<script" not in page
    # Options, files, example, reason, subreddit, pair.
    assert page.count(ESCAPED) == 2 + 2 + 1 + 1 + 1 + 4


def test_a_job_that_found_nothing_has_a_card():
    card = nothing_in(SMALL)
    assert "length 0 0.0%" in " ".join(rows(data_card.render(card)))
    empty = card | {"options": {}, "malformed_reasons": {}, "dropped_examples": {}}
    empty["counts"] = card["counts"] | {"dropped": {}}
    data_card.render(empty)
    data_card.render({**SMALL, "months": [["unknown", 3]]})


def test_a_synthetic_sample_is_not_called_reddit():
    page = data_card.render({**SMALL, "synthetic": True})
    assert "synthetic sample" in page
    assert " Reddit" not in page
    assert ">r/" not in page


def test_page_needs_no_network(page):
    assert not re.findall(r"https?:|//[a-z]|<link|@import|url\((?!#)|<script|src=(?!.data:)", page)


def test_the_page_says_how_the_splits_were_made_and_what_was_not_removed():
    options = {"split_by": "newest", "strip_repeated": False}
    repeated = {"texts": 9, "repeated": 0, "markup": 0, "lines": []}
    page = data_card.render({**SMALL, "options": options, "repeated": repeated})
    assert "newest threads are test" in page and "No thread has pairs in more than one" in page
    assert "lines that many share" in page and "which are removed" not in page
    asked = {**options, "split_by": "thread", "strip_repeated": True}
    page = data_card.render({**SMALL, "options": asked, "repeated": repeated})
    assert "which are removed" in page and "newest" not in page


@pytest.mark.parametrize("format_name", FORMATS)
def test_the_page_says_what_each_rule_of_a_format_drops(format_name):
    export = export_of(format_name)
    names = [*export.skips, *export.filters, *SETTINGS]
    counts = SMALL["counts"] | {"dropped": dict.fromkeys(names, 1)}
    page = data_card.render(SMALL | {"counts": counts, "dropped_examples": {}})
    rules = page[page.index("What the rules dropped") : page.index("Some pairs")]
    cells = re.findall(r'<td class="file">(.*?)</td>', rules, flags=re.DOTALL)
    assert len(cells) == len(dict.fromkeys(names)) and all(cell.strip() for cell in cells)
