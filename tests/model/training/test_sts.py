"""The correlation on STS while training goes on."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from model.errors import InputError
from model.training.validation import StsPairs

LINE = "main-news\tMSRpar\t2012\t7\t{}\t{}\t{}\n"


@pytest.fixture
def read(tmp_path):
    def pairs(content, text=None):
        (tmp_path / "sts-dev.csv").write_bytes(content.encode())
        return StsPairs.read(str(tmp_path / "sts-dev.csv"), text)

    return pairs


def test_lines_are_as_the_sts_benchmark_has_them(read):
    pairs = read(LINE.format(2.5, 'the "first', "das zweite ä") + LINE.format(4, "a", "b\tsource"))
    assert pairs.first == ['the "first', "a"]
    assert pairs.second == ["das zweite ä", "b"]
    assert pairs.gold == [2.5, 4.0]


def test_pearsons_r_of_three_pairs_by_hand():
    vectors = {
        b"east": [1.0, 0.0],
        b"north": [0.0, 1.0],
        b"northeast": [0.5**0.5, 0.5**0.5],
    }
    # The angles are 0, 45 and 90 degrees.
    pairs = StsPairs(
        first=["east", "east", "east"],
        second=["east", "northeast", "north"],
        gold=[5.0, 3.0, 0.0],
        text=lambda sentences: sentences,
    )
    model = SimpleNamespace(
        encode_inputs=lambda ids: tf.constant([vectors[sentence] for sentence in ids.numpy()])
    )
    # 1, 0, -1 beside 7/3, 1/3, -8/3: 5 / sqrt(2 * 114/9)
    np.testing.assert_allclose(pairs.pearson(model), 5 / np.sqrt(2 * 114 / 9), rtol=1e-6)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("main-news\tMSRpar\t2012\t7\t2.5\tonly one\n", "list index out of range"),
        (LINE.format("five", "a", "b"), "could not convert string to float: 'five'"),
        ("\n", "list index out of range"),
        (LINE.format("nan", "a", "b"), "'nan' is no score from 0 to 5"),
        (LINE.format("5.1", "a", "b"), "'5.1' is no score from 0 to 5"),
    ],
)
def test_a_malformed_line_is_named(read, line, reason):
    with pytest.raises(InputError, match=rf"task.sts_dev: '.*sts-dev.csv', line 3: {reason}"):
        read(LINE.format(1, "a", "b") * 2 + line + LINE.format(1, "a", "b"))


def test_a_file_that_is_missing_or_has_one_pair_is_refused(read, tmp_path):
    with pytest.raises(InputError, match=r"task.sts_dev: '.*nowhere'"):
        StsPairs.read(str(tmp_path / "nowhere"), None)
    with pytest.raises(InputError, match="has 1 pairs; at least 2"):
        read(LINE.format(1, "a", "b"))
    with pytest.raises(InputError, match=r"all scores of .* are 3; a correlation needs two"):
        read(LINE.format(3, "a", "b") * 2)
