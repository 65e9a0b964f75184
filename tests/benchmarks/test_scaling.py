"""Trainings whose speed with several workers is measured."""

import argparse

import pytest

from benchmarks import runs
from benchmarks.speed import scaling
from model.configs import parsing


@pytest.mark.parametrize("strategy", scaling.ROWS)
def test_training_accepts_the_parameters_of_each_row(strategy):
    given = argparse.Namespace(pairs="train-*", batch=8, steps=2 * runs.AVERAGED, strategy=strategy)
    for processes in scaling.ROWS[strategy].values():
        override = scaling.overrides(given, "vocabulary", processes)
        parsing.parse(
            experiment="reddit",
            config_files=["laptop_dan_ngrams"],
            params_override=",".join(f"{name}={value}" for name, value in override.items()),
        )
