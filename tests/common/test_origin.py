"""Which files count as generated, and which as Reddit's."""

import json

import pytest

from common.origin import GENERATED, SYNTHETIC, origin_of, synthetic_flag

MARKER = "A sample world: 10 comments, seed 0. None of it is real.\n"
FLAG = json.dumps({SYNTHETIC: True})


def card(name):
    return json.dumps({"source": {"name": name}})


@pytest.mark.parametrize(
    ("files", "origin"),
    [
        ({"SAMPLE.txt": MARKER}, GENERATED),
        ({"../SAMPLE.txt": MARKER}, GENERATED),
        ({"../../SAMPLE.txt": MARKER}, ""),
        ({"COMPLETED": FLAG}, GENERATED),
        ({"COMPLETED": FLAG, "data_card.json": card("Reddit")}, GENERATED),
        ({"COMPLETED": '{"synthetic": false}'}, ""),
        ({"COMPLETED": "{}", "data_card.json": card("Reddit")}, "Reddit"),
        ({"COMPLETED": "{}", "data_card.json": card("tickets.csv")}, ""),
        ({"COMPLETED": "{}"}, ""),
        ({"COMPLETED": ""}, ""),
        # Files of these names by somebody else.
        ({"SAMPLE.txt": "samples of the lab"}, ""),
        ({"COMPLETED": "[]", "data_card.json": "{}"}, ""),
        ({"COMPLETED": "{}", "data_card.json": "a card"}, ""),
    ],
)
def test_markers_manifests_and_cards_say_where_data_come_from(write_text, files, origin):
    path = write_text("a/b/test-0", "")
    for name, content in files.items():
        write_text(f"a/b/{name}", content)
    assert origin_of([path, str(path)]) == origin
    assert synthetic_flag([path]) == ({SYNTHETIC: True} if origin == GENERATED else {})
    assert origin_of([path, path.parents[3] / "other" / "test-0"]) == ""


def test_of_folders_one_above_the_other_both_count_and_no_object_store(write_text):
    path = write_text("SAMPLE.txt", MARKER)
    assert synthetic_flag([path, path.parent / "reddit" / "RC_1.zst"]) == {SYNTHETIC: True}
    for others in ([path, "gs://bucket/RC_2.zst"], ["/dumps/RC_1.zst", path], []):
        assert synthetic_flag(others) == {}
