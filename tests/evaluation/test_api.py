"""The public names of the package, as its docstring shows them."""

import doctest
import shutil

import evaluation


def test_the_examples_run(module, tmp_path, monkeypatch):
    shutil.copytree(module, tmp_path / "module")
    (tmp_path / "stsb").mkdir()
    rows = [
        (5, "the dog", "the dogs"),
        (2, "a house", "north"),
        (0, "run", "a tree"),
        (3, "a", "do"),
    ]
    lines = [f"main-news\tf\t2012\t{i}\t{gold}\t{a}\t{b}" for i, (gold, a, b) in enumerate(rows)]
    (tmp_path / "stsb" / "sts-dev.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(evaluation, raise_on_error=True).attempted > 10
    assert (tmp_path / "report.html").exists()


def test_every_public_name_is_there_and_no_other():
    assert all(hasattr(evaluation, name) for name in evaluation.__all__)
    assert not hasattr(evaluation, "other")
