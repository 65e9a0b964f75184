"""`--context_turns` through the whole command: chains over threads and files, and their ends."""

import pytest


@pytest.fixture
def chains(write_dump, comment):
    """A chain of seven over three files and two threads, a dropped turn in another, circles."""
    dumps = {"RC_1.gz": [], "RC_2.zst": [], "RC_3": []}
    for number in range(7):
        parent = f"t1_a{number - 1}" if number else "t3_p"
        thread = {"link_id": "t3_p" if number < 4 else "t3_q"}
        body = f"turn {'abcdefg'[number]}"
        of_file = list(dumps.values())[number % 3]
        of_file.append(comment(f"a{number}", parent, body=body, **thread))
    dumps["RC_2.zst"] += [
        comment("d0", body="never seen"),
        comment("d1", "t1_d0", body="[deleted]"),
        comment("d2", "t1_d1", body="its parent is gone"),
        comment("d3", "t1_d2", body="an input"),
        comment("d4", "t1_d3", body="a response"),
        comment("m1", "t1_nowhere", body="a parent that no file has"),
        comment("m2", "t1_m1", body="an input to that"),
        comment("m3", "t1_m2", body="a response to that"),
    ]
    dumps["RC_3"] += [
        comment("x1", "t1_x2", body="one of two"),
        comment("x2", "t1_x1", body="two of two"),
        comment("y1", "t1_y3", body="one of three"),
        comment("y2", "t1_y1", body="two of three"),
        comment("y3", "t1_y2", body="three of three"),
        comment("z1", "t1_z1", body="a reply to itself"),
        comment("z2", "t1_z1", body="a reply to that"),
        comment("z3", "t1_z2", body="and one more"),
        comment("v1", "t1_y1", body="from outside into the circle"),
    ]
    for name, rows in dumps.items():
        write_dump(name, rows)


EXPECTED = {
    "a1": [],
    "a2": ["turn a"],
    "a3": ["turn b", "turn a"],
    "a4": ["turn c", "turn b", "turn a"],
    "a5": ["turn d", "turn c", "turn b", "turn a"],
    "a6": ["turn e", "turn d", "turn c", "turn b"],
    "d3": [],
    "d4": ["its parent is gone"],
    "m2": [],
    "m3": ["a parent that no file has"],
    # A circle ends before a turn that is in the pair or in its context already.
    "x1": [],
    "x2": [],
    "y1": ["two of three"],
    "y2": ["three of three"],
    "y3": ["one of three"],
    "z2": [],
    "z3": ["a reply to itself"],
    "v1": ["three of three", "two of three"],
}


@pytest.mark.usefixtures("chains")
@pytest.mark.parametrize("turns", [1, 2, 4])
@pytest.mark.parametrize("runner", ["one process", "few partitions", "an engine"])
def test_the_nearest_turn_first_and_empty_where_there_is_none(
    make, tmp_path, monkeypatch, runner, turns
):
    if runner != "one process":
        monkeypatch.setattr("data_pipeline.job.graph._MIN_PARTITIONS", 3)
        monkeypatch.setattr("data_pipeline.job.join._WAITING_BYTES", 1)
    if runner == "an engine":
        monkeypatch.setattr("data_pipeline.execution.job.is_local", lambda _: False)
    _, pairs = make("reddit", "--input", f"{tmp_path}/RC_*", "--context_turns", turns)
    names = [f"context/{turn}" for turn in range(turns)]
    assert {pair["response_id"]: [pair[name] for name in names] for pair in pairs} == {
        response: (context + [""] * turns)[:turns] for response, context in EXPECTED.items()
    }
    assert len(pairs) == len(EXPECTED)
    assert all(set(names) == {name for name in pair if name.startswith("con")} for pair in pairs)
