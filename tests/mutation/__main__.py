"""`make mutants`: mutmut, with what Keras and TensorFlow need of it.

Of a process with TensorFlow in it, the garbage collector writes to most pages: a child that runs
the tests of a mutant takes 1.0 s, but 0.15 s where the parent's objects are left out of it.
"""

import gc
import inspect
from itertools import accumulate

from mutmut.__main__ import cli
from mutmut.mutation import trampoline
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.workers.isolation import ForkServerRunner

SECONDS = 20
"""Tests of a mutant that would take longer, slow ones last, are left out: as if they passed."""

_wrap, _warm_up = trampoline.wrap_in_trampoline, PytestRunner.warm_up
_submit = ForkServerRunner.submit


def _wrap_with_signature(*args, **kwargs):
    """Keras asks a layer's `call` for its arguments, and does not look through a wrapper."""

    def wrap(function):
        wrapped = _wrap(*args, **kwargs)(function)
        wrapped.__signature__ = inspect.signature(function)
        return wrapped

    return wrap


def _warm_up_and_freeze(runner):
    _warm_up(runner)
    gc.freeze()


def _submit_fast_tests_first(runner, mutant_name, tests, *limits):
    seconds = state().duration_by_test
    tests = sorted(tests, key=seconds.get)
    ends = accumulate(seconds[test] for test in tests)
    within = [test for test, end in zip(tests, ends, strict=True) if end < SECONDS]
    _submit(runner, mutant_name, within or tests[:1], *limits)


trampoline.wrap_in_trampoline = _wrap_with_signature
ForkServerRunner.submit = _submit_fast_tests_first
PytestRunner.warm_up = _warm_up_and_freeze

if __name__ == "__main__":
    cli()
