"""Work dealt out to the workers of one machine: nothing twice, nothing left, about as much each."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from backports import zstd

from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.shares import SKIPPING, share_out

MB = 1_000_000


@pytest.fixture
def file(tmp_path):
    def make(name, size, *, window_log=20):
        path = tmp_path / name
        compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window_log})
        path.write_bytes(compressor.compress(b"{}\n") + compressor.flush())
        return InputFile(str(path), size)

    return make


def dealt(files, workers, *, memory=1 << 40):
    shares = share_out(dict.fromkeys(files, True), workers=workers, memory=memory)
    parts = sorted((part for share in shares for part in share), key=lambda part: part.position)
    assert [part.position for part in parts] == list(range(len(parts)))
    order = [file.path for file in files]
    keys = [(order.index(part.path), part.start) for part in parts]
    assert keys == sorted(keys)
    return [[part._replace(position=0) for part in share] for share in shares]


def work(share):
    return sum(part.stored_bytes + SKIPPING * part.start for part in share)


def whole_again(shares, file):
    pieces = sorted(part for share in shares for part in share if part.path == file.path)
    ends = [0, *(piece.end for piece in pieces)]
    return pieces == [file] or (
        [(piece.start, piece.end) for piece in pieces] == list(pairwise(ends))
        and all(piece.size == file.size for piece in pieces)
        and ends[-1] == file.size
    )


@pytest.mark.parametrize("name", ["RC.zst", "RC"])
def test_one_file_is_cut_so_that_all_workers_end_together(file, name):
    month = file(name, 300 * MB)
    shares = dealt([month], 2)
    # x bytes take as long as skipping them and reading the rest: x = 0.12 x + 300 - x.
    ends = sorted(part.end for share in shares for part in share)
    assert ends == [pytest.approx(300 * MB / 1.88, abs=2), 300 * MB]
    shares = dealt([month], 8)
    assert whole_again(shares, month)
    assert max(map(work, shares)) - min(map(work, shares)) < 8


def test_what_cannot_be_cut_is_dealt_out_whole(file):
    whole = [
        *(InputFile(f"RC_{size}.gz", size * MB) for size in (50, 30, 25)),
        InputFile("s3://dumps/RC.zst", 40 * MB),
        file("small.zst", 8 * MB),
    ]
    month, table = file("RC_2015-01.zst", 300 * MB), file("messages.csv.zst", 100 * MB)
    shares = dealt([*whole, month], 3)
    assert sorted(part for share in shares for part in share if part.end is None) == sorted(whole)
    assert whole_again(shares, month)
    assert share_out({table: False}, workers=2, memory=1 << 40) == [[table], []]
    assert dealt([], 2) == [[], []]
    # An engine deals out the work itself, and cuts nothing.
    assert sorted(dealt([*whole, month], 0)) == sorted([part] for part in (*whole, month))


@pytest.mark.parametrize(("windows", "pieces"), [(4, 4), (3.9, 1)])
def test_a_file_is_cut_if_the_windows_of_all_workers_fit_into_memory(file, windows, pieces):
    month = file("RC.zst", 300 * MB, window_log=27)
    shares = dealt([month], 4, memory=int(windows * (1 << 27)))
    assert sum(map(len, shares)) == pieces


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_left_and_nothing_is_twice(file, seed):
    random = np.random.default_rng(seed)
    workers = int(random.integers(1, 9))
    files = [
        file(f"RC_{number}.zst", int(size))
        if random.random() < 0.7
        else InputFile(f"RC_{number}.gz", int(size))
        for number, size in enumerate(random.lognormal(16, 2, random.integers(1, 30)))
    ]
    shares = dealt(files, workers)
    assert all(whole_again(shares, each) for each in files)
    # No worse than whole files, the largest first.
    loads = [0] * workers
    for size in sorted((each.size for each in files), reverse=True):
        loads[loads.index(min(loads))] += size
    assert workers < 2 or max(map(work, shares)) <= max(loads)


@pytest.mark.parametrize("bits", [0x00, 0x20])
def test_a_damaged_file_is_left_to_whoever_reads_it(file, bits):
    damaged = file("RC.zst", 20 * MB)
    Path(damaged.path).write_bytes(bytes([0, 0, 0, 0, bits]) + bytes(20))
    assert whole_again(dealt([damaged], 2), damaged)
