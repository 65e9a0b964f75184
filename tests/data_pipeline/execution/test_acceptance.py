"""A job that reads the wrong input, or finds nothing, fails with one line and publishes nothing."""

import json
from functools import partial

import pytest

from common.errors import InputError
from data_pipeline.execution.job import require_acceptable
from data_pipeline.options import LimitOptions

limits_of = partial(LimitOptions, input=("RC",), output="out")


@pytest.mark.parametrize(
    ("lines", "malformed", "pairs", "limits", "named"),
    [
        (4, 2, 1, limits_of(), None),  # a half is not more than the half
        (4, 3, 1, limits_of(), "--max_malformed"),
        (4, 2, 1, limits_of(max_malformed=0.49), "--max_malformed"),
        (4, 3, 0, limits_of(allow_empty=True), "--max_malformed"),
        (4, 4, 0, limits_of(max_malformed=1, allow_empty=True), None),
        (4, 0, 0, limits_of(), "no pairs"),
        (0, 0, 0, limits_of(), "no pairs"),
        (4, 0, 0, limits_of(allow_empty=True), None),
    ],
)
def test_a_result_needs_pairs_and_lines_that_can_be_parsed(lines, malformed, pairs, limits, named):
    statistics = {"lines": lines, "malformed": malformed, "dropped": {"bot": 3}}
    letters = [
        json.dumps({"file": "RC", "line": line, "reason": "not JSON", "raw": "PK"}).encode()
        for line in range(1, 9)
    ]
    asked = {"pairs": pairs, "dead_letters": letters, "hints": ["check the ids"]}
    if named is None:
        require_acceptable(statistics, limits, **asked)
        return
    with pytest.raises(InputError, match=named) as raised:
        require_acceptable(statistics, limits, **asked)
    assert str(raised.value).count("'PK'") == 3
    assert "'RC', line 3" in str(raised.value)
    if named == "no pairs":
        assert "bot" in str(raised.value)
        assert "check the ids" in str(raised.value)


def test_dead_letters_of_all_files_are_stored_in_order_up_to_a_limit(
    run, write_dump, comment, tmp_path, statistics_of, monkeypatch
):
    good = [comment("c1"), comment("c2", "t1_c1"), *(comment(f"d{n}") for n in range(8))]
    write_dump("RC_1", [b"a1", *good, b"a2", b"a3"])
    write_dump("RC_2", [b"b1", b"b2"])
    for most in (0, 2, 9):
        for module in ("read", "publish"):
            monkeypatch.setattr(f"data_pipeline.job.{module}.MOST_DEAD_LETTERS", most)
        run("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out", "--overwrite")
        (letters,) = (tmp_path / "out").glob("dead_letters-*")
        assert statistics_of(tmp_path / "out")["malformed"] == 5
        raw = [json.loads(line)["raw"] for line in letters.read_text().splitlines()]
        assert raw == ["a1", "a2", "a3", "b1", "b2"][:most]
