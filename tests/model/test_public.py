"""The public names of `model`: imported when first used; the docstring's example runs."""

import doctest
import importlib

import pytest

import model


@pytest.mark.slow
def test_the_example_runs(flags, pairs_folder, tmp_path, monkeypatch):
    (tmp_path / "demo.yaml").symlink_to(flags()["config_file"])
    (tmp_path / "pairs").mkdir()
    for shard in pairs_folder.iterdir():
        name = shard.name.replace("test-", "validation-")
        (tmp_path / "pairs" / name).symlink_to(shard)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestFinder(recurse=False).find(model)[0]
    printed = []
    doctest.DocTestRunner().run(test, out=printed.append)
    assert not printed, "".join(printed)
    assert test.examples


@pytest.mark.parametrize("name", model._PUBLIC)
def test_every_public_name_is_there(name):
    assert getattr(model, name) is getattr(importlib.import_module(model._PUBLIC[name]), name)
