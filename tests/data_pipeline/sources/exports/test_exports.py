"""From an export, written by hand in its documented form, to the exact pairs."""

import json
import zipfile
from pathlib import Path

import pytest

from data_pipeline.storage.filesystem import file_crc32c

HERE = Path(__file__).parent


def texts(pairs):
    return [(pair["input"], pair["response"]) for pair in pairs]


def test_discord(make):
    statistics, pairs = make("import", "discord", "--input", HERE / "discord")
    assert texts(pairs) == [
        ("Why are my tomatoes yellow?", "@Ann too much water, I think"),
        ("@Ann too much water, I think", "It was the water"),
    ]
    assert [pair["subreddit"] for pair in pairs] == ["help"] * 2
    assert [pair["response_id"] for pair in pairs] == ["102", "105"]
    assert len({pair["thread_id"] for pair in pairs}) == 1
    assert statistics["dropped"] == {"by_bot": 1, "system": 1, "forwarded": 1, "empty": 0}
    assert statistics["malformed"] == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"messages": [{"id": "1"', "premature EOF"),
        (b'{"items": []}', "messages"),
        (b"[1, 2]", "messages"),
        (b"\x89PNG", "JSON"),
    ],
)
def test_a_file_of_another_form_is_named(refused, tmp_path, content, reason):
    (tmp_path / "a.json").write_bytes(content)
    message = refused("import", "discord", "--input", tmp_path)
    assert str(tmp_path / "a.json") in message
    assert reason in message


@pytest.mark.parametrize("name", ["folder", "empty.zip", "none.zip"])
def test_a_folder_and_a_zip_must_have_files_of_the_format(refused, tmp_path, name):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "empty.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("notes.txt", "none")
    else:
        path.write_bytes(b"PK no")
    assert str(path) in refused("import", "discord", "--input", path)


def test_a_zip_gives_the_pairs_of_its_files(make, tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(HERE / "discord" / "help.json", "Gardens/help.json")
        archive.writestr("Gardens/readme.txt", "none")
    _, pairs = make("import", "discord", "--input", path)
    assert len(pairs) == 2
    completed = json.loads((tmp_path / "out" / "COMPLETED").read_text())
    (file,) = completed["inputs"].values()
    assert (file["bytes"], file["crc32c"]) == (path.stat().st_size, file_crc32c(str(path)))
    (letter,) = (tmp_path / "out").glob("dead_letters-*")
    assert json.loads(letter.read_text())["file"] == f"{path}/Gardens/help.json"


def test_halves_need_threads(refused):
    asked = ("import", "discord", "--input", HERE / "discord", "--pairs_of", "halves")
    assert "halves" in refused(*asked)
