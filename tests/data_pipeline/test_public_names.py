"""The package's public names: each is found, and the examples in the docstring run."""

import doctest

import pytest

import data_pipeline


def test_the_examples_in_the_docstring_run():
    done = doctest.testmod(data_pipeline)
    assert done.attempted >= 10
    assert done.failed == 0


def test_each_public_name_is_found():
    assert 5 <= len(data_pipeline.__all__) <= 15
    for name in data_pipeline.__all__:
        assert getattr(data_pipeline, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = data_pipeline.nothing
