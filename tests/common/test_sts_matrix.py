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


def npz(matrix):
    return lambda path: sts_matrix.write(path, matrix, about={})


@pytest.mark.parametrize(
    "write",
    [
        *map(npz, (np.eye(2), np.zeros((3, 3)), np.full((3, 3), 1e300))),
        lambda path: path.write_bytes(b"text"),
        lambda path: None,
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path, write):
    write(tmp_path / "m.npz")
    with pytest.raises(InputError, match=r"m\.npz"):
        sts_matrix.read(tmp_path / "m.npz", dim=3)
