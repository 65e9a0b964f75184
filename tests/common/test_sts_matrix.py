import numpy as np
import pytest

from common import sts_matrix
from common.errors import InputError


def test_a_matrix_comes_back_as_it_was_written(tmp_path):
    path, matrix = tmp_path / "new" / sts_matrix.FILE, np.eye(3, dtype=np.float32)
    sts_matrix.write(path, matrix, about={"module": {"fingerprint": "c0"}})
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    read, about = sts_matrix.read(path, dim=3)
    assert (read == matrix).all()
    assert read.dtype == np.float32
    assert about == {"module": {"fingerprint": "c0"}}


@pytest.mark.parametrize("matrix", [np.eye(2), np.zeros((3, 3)), np.full((3, 3), 1e300)])
def test_a_matrix_that_cannot_be_used_is_refused(tmp_path, matrix):
    sts_matrix.write(tmp_path / "m.npz", matrix, about={})
    with pytest.raises(InputError, match=r"m\.npz"):
        sts_matrix.read(tmp_path / "m.npz", dim=3)


@pytest.mark.parametrize("content", [b"", b"text", None])
def test_a_file_that_is_none_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "m.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"m\.npz"):
        sts_matrix.read(tmp_path / "m.npz", dim=3)
