"""One exporter at a time writes an output, and only over what is its own kind."""

import re
from pathlib import Path

import pytest

from data_pipeline.storage.claim import claim
from export.__main__ import main
from model import output_folder
from model.errors import InputError


def refusal(*arguments):
    with pytest.raises(SystemExit) as raised:
        main([str(argument) for argument in arguments])
    return raised.value.code


@pytest.mark.parametrize("command", ["module", "variants"])
def test_the_second_is_refused_before_anything_is_loaded(tmp_path, command):
    output = tmp_path / "out"
    with output_folder.claimed(output):
        message = refusal(command, "--model_dir", tmp_path / "nowhere", "--output", output)
        assert message.startswith(f"error: --output: {str(output)!r} is in use by process ")
        assert [path.name for path in output.iterdir()] == ["_claim"]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_which_another_command_works_is_no_output(tmp_path):
    output = tmp_path / "pairs"
    output.mkdir()
    with claim(str(output / "_claim"), what="it"):
        message = refusal("module", "--model_dir", tmp_path, "--output", output)
        assert "is in use by process" in message


def test_the_claim_on_a_folder_that_is_replaced_goes_with_it(tmp_path):
    output = tmp_path / "out"
    with output_folder.claimed(output):
        with output_folder.aside(output) as new:
            new.mkdir()
            (new / "whole").write_text("new")
        # The folder is in its place: the next one may have it, and keeps it.
        with output_folder.claimed(output):
            pass
        assert [path.name for path in output.iterdir()] == ["whole"]
    assert [path.name for path in output.iterdir()] == ["whole"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_card_is_not_amended_while_its_module_is_written(tmp_path):
    with output_folder.claimed(tmp_path / "module"):
        message = refusal("card", "--module", tmp_path / "module", "--results", tmp_path)
        assert "is in use by process" in message


def test_a_link_and_what_it_leads_to_are_one_output(tmp_path):
    (tmp_path / "module").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "module")
    with output_folder.claimed(tmp_path / "link"):
        assert "is in use" in refusal(
            "module", "--model_dir", tmp_path, "--output", tmp_path / "module"
        )


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path, monkeypatch):
    output = tmp_path / "module"
    output.mkdir()
    (output / "old").touch()
    replace = type(output).replace

    def failing(self, target):
        if self.name == "new":
            raise PermissionError("not here")
        return replace(self, target)

    monkeypatch.setattr(type(output), "replace", failing)
    with pytest.raises(PermissionError), output_folder.aside(output) as new:
        new.mkdir()
    assert [path.name for path in output.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [output]


def test_a_folder_made_between_the_renames_costs_nothing(tmp_path, monkeypatch):
    output = tmp_path / "module"
    output.mkdir()
    (output / "old").write_text("x")
    replace = Path.replace

    def others_come_first(path, target):
        output.mkdir()
        (output / "theirs").write_text("y")
        replace(path, target)

    monkeypatch.setattr(Path, "replace", others_come_first)
    with (
        pytest.raises(
            InputError, match=r"cannot be replaced: .*; what was there is in '(.*)'$"
        ) as raised,
        output_folder.aside(output) as new,
    ):
        new.mkdir()
    kept = re.search("'([^']*)'$", str(raised.value))[1]
    assert (Path(kept) / "old").read_text() == "x"
    assert (output / "theirs").read_text() == "y"


def test_ctrl_c_between_the_renames_puts_the_old_folder_back(tmp_path, monkeypatch):
    output = tmp_path / "module"
    output.mkdir()
    (output / "old").write_text("x")

    def stopped(path, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt), output_folder.aside(output) as new:
        new.mkdir()
    assert (output / "old").read_text() == "x"
    assert [path.name for path in tmp_path.iterdir()] == ["module"]
