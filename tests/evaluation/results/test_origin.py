"""What is known of where data come from."""

import json

import pytest

from common.text_files import Source
from evaluation.results.store import SYNTHETIC, origin_of, provenance

SAMPLE = "A sample world: 10 comments. None of it is real.\n"


def card(name):
    return json.dumps({"source": {"name": name}})


@pytest.mark.parametrize(
    ("files", "origin"),
    [
        ({"SAMPLE.txt": SAMPLE}, SYNTHETIC),
        ({"../SAMPLE.txt": SAMPLE}, SYNTHETIC),
        ({"../../SAMPLE.txt": SAMPLE}, ""),
        (
            {"COMPLETED": '{"synthetic": true}', "data_card.json": card("Reddit")},
            SYNTHETIC,
        ),
        ({"COMPLETED": "{}", "data_card.json": card("Reddit")}, "Reddit"),
        ({"COMPLETED": "{}", "data_card.json": card("tickets.csv")}, ""),
        ({"COMPLETED": "{}"}, ""),
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
    assert origin_of([path, path]) == origin
    assert origin_of([path, path.parents[3] / "other" / "test-0"]) == ""
    found = provenance(Source("pairs", (path,)), [Source("train", (path,))])
    assert found.get("origin", "") == origin
    assert found["learned_from"]["files"] == ["test-0"]
