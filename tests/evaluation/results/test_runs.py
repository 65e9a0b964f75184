import dataclasses
import json

import pytest

from evaluation.data import sts_files
from evaluation.data.files import Source
from evaluation.errors import InputError
from evaluation.metrics import bootstrap, per_item
from evaluation.results import runs
from evaluation.tasks import cqa, response_ranking, sts

MODULE = {"path": "m", "fingerprint": "c0ffee"}
ROWS = "".join(
    f"main-{'news' if i % 2 else 'captions'}\tf\t2012\t{i}\t{gold}\tthe dog\tthe dog {more}\n"
    for i, (gold, more) in enumerate(
        (5 - i / 2, " ".join("abcdefghij"[: i + i // 3])) for i in range(10)
    )
)


@pytest.fixture
def source(write_text):
    return Source("sts-dev", (write_text("sts-dev.csv", ROWS),))


@pytest.fixture
def run(tmp_path):
    return runs.Run(output=tmp_path / "results", command="python -m evaluation sts", seed=4)


def test_a_result_says_where_it_comes_from(run, source, word_encoder):
    found = run.result(
        source, lambda: sts.evaluate(word_encoder, sts_files.read(source)), module=MODULE
    )
    stored = json.loads((run.output / "sts-dev.json").read_text())
    assert stored["data"] == source.provenance()
    assert stored["module"] == MODULE
    assert stored["settings"] == {"seed": 4, "resamples": 2000}
    assert stored["command"] == "python -m evaluation sts"
    assert stored["seconds"] > 0
    low, high = stored["intervals"]["pearson"]
    assert -1 <= low < found.metrics["pearson"] < high <= 1
    assert set(stored["groups"]["main-news"]) == {"n", "metrics", "intervals"}
    assert set(stored["baseline_intervals"]["word_overlap"]) == {"pearson", "spearman"}


def test_what_is_there_is_not_computed_again(run, source, word_encoder, capsys):
    calls = []

    def compute():
        calls.append(1)
        return sts.evaluate(word_encoder, sts_files.read(source))

    first = run.result(source, compute, module=MODULE)
    assert run.result(source, compute, module=MODULE).metrics == first.metrics
    assert len(calls) == 1
    assert "there already; --again" in capsys.readouterr().out
    dataclasses.replace(run, again=True).result(source, compute, module=MODULE)
    assert len(calls) == 2


def test_what_is_there_is_not_passed_off_as_something_else(run, source, write_text, word_encoder):
    def compute():
        return sts.evaluate(word_encoder, sts_files.read(source))

    run.result(source, compute, module=MODULE)
    with pytest.raises(InputError, match=r"sts-dev\.json: there already, of module c0ffee"):
        run.result(source, compute, module=MODULE | {"fingerprint": "decade"})
    with pytest.raises(InputError, match="of seed 4 where 5 is asked for"):
        dataclasses.replace(run, seed=5).result(source, compute, module=MODULE)
    with pytest.raises(InputError, match="of candidates None where 7 is asked for"):
        run.result(source, compute, module=MODULE, settings={"candidates": 7})
    write_text("sts-dev.csv", ROWS + ROWS)
    with pytest.raises(InputError, match=r"there already, of data .* --again replaces it"):
        run.result(source, compute, module=MODULE)


def test_a_failure_keeps_what_is_finished(run, source, word_encoder):
    run.result(source, lambda: sts.evaluate(word_encoder, sts_files.read(source)), module=MODULE)

    def fails():
        raise InputError("a NaN")

    with pytest.raises(InputError, match="a NaN"):
        run.result(Source("sts-test", source.files), fails, module=MODULE)
    assert [path.name for path in run.output.iterdir()] == ["sts-dev.json"]


def test_ranking_is_resampled_by_blocks(run, word_encoder):
    pairs = [response_ranking.Pair(f"a{i} b", f"a{i} c", f"i{i}", f"r{i}") for i in range(50)]
    found = response_ranking.evaluate(
        word_encoder, response_ranking.RankingData("r", pairs), candidates=8
    )
    assert sorted({item["block"] for item in found.items}) == list(range(7))  # 6 of 8, 1 of 2

    weigh, units = per_item.figures(found)
    assert units == 7
    assert bootstrap.once(weigh, units) == pytest.approx(found.metrics)
    overlap, _ = per_item.figures(found, system="word_overlap")
    assert bootstrap.once(overlap, units) == pytest.approx(found.baselines["word_overlap"])


def test_cqa_is_resampled_by_queries(run, xml_file, word_encoder):
    rows = [
        (f"Q{i}", f"word{i} x", "", f"R{i}{j}", j, label, text)
        for i in range(4)
        for j, (label, text) in enumerate(
            [("Irrelevant", "other"), ("Relevant", f"word{i}"), ("Irrelevant", "x")], start=1
        )
    ]
    (source,) = cqa.find(xml_file("dev.xml", rows))
    found = run.result(source, lambda: cqa.evaluate(word_encoder, cqa.read(source)), module=MODULE)

    for system in (None, "search_engine", "word_overlap", "ceiling"):
        weigh, units = per_item.figures(found, system=system)
        assert units == 4
        stored = found.metrics if system is None else found.baselines[system]
        assert bootstrap.once(weigh, units) == pytest.approx(stored)
    assert found.baselines["ceiling"] == {"map": 1.0, "avg_rec": 1.0, "mrr": 1.0}
    assert found.baseline_intervals["search_engine"]["map"] == [0.5, 0.5]


def test_results_of_before_are_told_apart(run, source, word_encoder):

    found = response_ranking.evaluate(
        word_encoder,
        response_ranking.RankingData(
            "r", [response_ranking.Pair(f"a{i}", f"b{i}", f"i{i}", f"r{i}") for i in range(4)]
        ),
        candidates=2,
    )
    old = [{key: item[key] for key in ("input_id", "rank")} for item in found.items]
    with pytest.raises(InputError, match=r"its items lack .*'block'.* --again"):
        per_item.figures(dataclasses.replace(found, items=old))
