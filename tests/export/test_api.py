"""The examples of the package's docstring."""

import doctest
import shutil
import subprocess
import sys

import pytest

import export


@pytest.mark.slow
def test_the_examples_run(shared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(shared / "run", tmp_path / "run")
    (tmp_path / "replies.txt").write_text("I am 20\nno\n")
    failed, attempted = doctest.testmod(export)
    assert (failed, attempted > 0) == (0, True)


def test_every_public_name_is_there():
    assert [name for name in export.__all__ if not hasattr(export, name)] == []


def test_naming_the_package_imports_no_tensorflow():
    program = "import export, sys; export.VARIANTS; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_variant_that_there_is_not_is_refused(tmp_path):
    with pytest.raises(ValueError, match="variant is 'int16'; float32, bfloat16, float16, int8"):
        export.export(tmp_path / "run", tmp_path / "module", variant="int16")
