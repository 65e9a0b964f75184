"""Checkpoints whose files are lost or damaged: found, or named; never begun anew in silence."""

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from model.checkpoints import files


def write(folder, *steps):
    """Checkpoints of one table, which has a checksum in each."""
    for step in steps:
        table = tf.Variable(np.full([50, 4], step, np.float32))
        tf.train.Checkpoint(table=table).write(f"{folder}/ckpt-{step}")


LOSSES = {
    "removed": lambda path: path.unlink(),
    "garbage": lambda path: path.write_bytes(b"\xff\x00garbage"),
    "of another text": lambda path: path.write_text("what is this\n"),
    "of one that is gone": lambda path: path.write_text('model_checkpoint_path: "ckpt-60"\n'),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_the_last_is_found_without_the_file_that_names_it(tmp_path, capsys, lose):
    write(tmp_path, 100, 20, 40)
    state = tmp_path / "checkpoint"
    state.write_text("")
    lose(state)
    last = f"{tmp_path}/ckpt-100"
    assert files.last(tmp_path) == last
    files.tidy(tmp_path)
    assert last in capsys.readouterr().out
    assert files.last(tmp_path) == last
    named = tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
    assert list(named) == [f"{tmp_path}/ckpt-{step}" for step in (20, 40, 100)]


def test_what_the_file_names_is_the_last_though_a_newer_one_was_begun(tmp_path):
    write(tmp_path, 20, 40)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-20"\n')
    assert files.last(tmp_path) == f"{tmp_path}/ckpt-20"
    assert files.last(tmp_path / "nowhere") is None


def test_what_a_killed_run_has_begun_to_write_is_removed(tmp_path):
    write(tmp_path, 20)
    before = {path.name for path in tmp_path.iterdir()} | {"checkpoint"}
    (tmp_path / "ckpt-40_temp").mkdir()
    (tmp_path / "ckpt-40_temp" / "part").write_text("")
    (tmp_path / ".run.json.abc").mkdir()
    (tmp_path / "checkpoint.tmp1").write_text("")
    files.tidy(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == before


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DATA, INDEX = "ckpt-40.data-00000-of-00001", "ckpt-40.index"
DAMAGES = {
    "data cut": (DATA, lambda path: path.write_bytes(path.read_bytes()[:-100])),
    "data missing": (DATA, lambda path: path.unlink()),
    "index missing": (INDEX, lambda path: path.unlink()),
    "index cut": (INDEX, lambda path: path.write_bytes(path.read_bytes()[:99])),
    "a byte": (DATA, flip),
}


def restore(checkpoint):
    variable = tf.Variable(np.zeros([50, 4], np.float32))
    tf.train.Checkpoint(table=variable).restore(checkpoint).assert_consumed()


@pytest.mark.parametrize(("name", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_checkpoint_is_named_with_what_to_use_instead(tmp_path, name, damage):
    write(tmp_path, 20, 40)
    damage(tmp_path / name)
    checkpoint = f"{tmp_path}/ckpt-40"
    named = pytest.raises(InputError, match=f"{checkpoint} .* {tmp_path}/ckpt-20")
    with named, files.restoring(checkpoint):
        restore(checkpoint)
