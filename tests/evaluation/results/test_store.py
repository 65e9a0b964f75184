import dataclasses
from functools import partial

import pytest

from common import sts as sts_files
from common.errors import InputError
from common.text_files import Source
from evaluation.results.store import Evaluation, Store
from evaluation.tasks import sts
from tests.evaluation.test_baselines import ROWS

MODULE = {"path": "m", "fingerprint": "c0ffee"}


@pytest.fixture
def source(write_text):
    return Source("sts-dev", (write_text("sts-dev.csv", ROWS),))


@pytest.fixture
def store(tmp_path):
    return Store(output=tmp_path / "results", command="python -m evaluation sts", seed=4)


def scored(store, source, compute, *, module=MODULE, **asked):
    """The one result that is asked for."""
    one = Evaluation(source=source, compute=compute, module=module, **asked)
    (found,) = store.results([one])
    return found


def test_what_is_there_is_not_computed_again(store, source, word_encoder, capsys):
    calls = []

    def compute():
        calls.append(1)
        return sts.evaluate(word_encoder, sts_files.read(source))

    first = scored(store, source, compute)
    assert scored(store, source, compute).metrics == first.metrics
    assert len(calls) == 1
    assert "already there; --again" in capsys.readouterr().out
    scored(dataclasses.replace(store, again=True), source, compute)
    assert len(calls) == 2


def test_what_is_there_is_not_passed_off_as_something_else(store, source, write_text, word_encoder):
    compute = partial(sts.evaluate, word_encoder, sts_files.read(source))
    scored(store, source, compute)
    with pytest.raises(InputError, match=r"sts-dev\.json: already there, of module c0ffee"):
        scored(store, source, compute, module=MODULE | {"fingerprint": "decade"})
    with pytest.raises(InputError, match="of seed 4, not 5"):
        scored(dataclasses.replace(store, seed=5), source, compute)
    with pytest.raises(InputError, match="of columns None, not a, b, c"):
        scored(store, source, compute, module=MODULE, settings={"columns": "a, b, c"})
    write_text("sts-dev.csv", ROWS + ROWS)
    with pytest.raises(InputError, match=r"already there, of data .* --again replaces it"):
        scored(store, source, compute)


def test_a_failure_keeps_what_is_finished(store, source, word_encoder):
    scored(store, source, lambda: sts.evaluate(word_encoder, sts_files.read(source)))

    def fails():
        raise InputError("a NaN")

    with pytest.raises(InputError, match="a NaN"):
        scored(store, Source("sts-test", source.files), fails)
    assert [path.name for path in store.output.iterdir()] == ["sts-dev.json"]
