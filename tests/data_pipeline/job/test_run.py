"""How files are dealt out to the workers of one machine."""

import pytest

from data_pipeline.job.run import share_out
from data_pipeline.storage.inputs import InputFile


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_each_file_is_read_once_and_workers_have_about_as_much(workers):
    files = [InputFile(f"RC_{size}", size) for size in (5, 6, 21, 7, 8)]
    shares = share_out(files, workers)
    assert sorted(each for share in shares for each in share) == list(enumerate(files))
    loads = sorted(sum(file.size for _, file in share) for share in shares)
    assert loads == {1: [47], 2: [21, 26], 4: [7, 8, 11, 21]}.get(workers, [5, 6, 7, 8, 21])
