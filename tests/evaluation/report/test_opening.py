"""The opening table: three rows, two baselines and a pretrained model on four ranked pairs."""

import dataclasses

import pytest

from evaluation.__main__ import main
from evaluation.report import opening, paper_tables
from evaluation.report.cells import BASELINE, OURS, Cell
from evaluation.report.systems import Scored, System, read_runs
from evaluation.results import store
from evaluation.results.result import Result


def ranking(*ranks, path="m", pretrained=False):
    return Result(
        task="response_ranking",
        name="response_ranking",
        system="module",
        metrics={"p_at_1": sum(rank == 1 for rank in ranks) / len(ranks)},
        intervals={"p_at_1": [0.25, 0.75]},
        n=len(ranks),
        items=[
            {"rank": rank, "block": row // 2, "input_id": str(row), "response_id": str(row)}
            for row, rank in enumerate(ranks)
        ],
        data={"sha256": "ab", "origin": "Reddit"},
        module={"path": path, "fingerprint": "1"} | ({"pretrained": True} if pretrained else {}),
    )


def dev(r):
    return Result(task="sts", name="sts-dev", system="module", metrics={"pearson": r}, n=4)


@pytest.fixture
def results(tmp_path):
    def put(run, *found):
        for one in found:
            store.write(one, tmp_path / "results" / run)

    put("plain-0", dev(0.70), ranking(1, 2, 1, 2))
    put("plain-1", dev(0.72), ranking(1, 1, 1, 1))
    put("worse-0", dev(0.60), ranking(1, 1, 1, 1))
    put("distilled-0", dev(0.80), ranking(1, 2, 1, 2))
    put("baselines/TF-IDF", dev(0.65), ranking(1, 2, 1, 2))
    put("baselines/words", dev(0.99), ranking(2, 2, 2, 2))
    put("baselines/lm", dev(0.90), ranking(1, 1, 1, 1, pretrained=True))
    return tmp_path / "results"


def test_rows_are_chosen_on_dev_of_each_kind(results):
    best = opening.best_rows(read_runs(results), {"distilled": "a teacher"})
    assert {kind: row.label for kind, row in best.items()} == {
        "": "plain",
        "a teacher": "distilled",
    }
    assert opening.best_rows(read_runs(results), {})[""].label == "distilled"


def test_the_best_baseline_is_the_one_with_the_highest_figure(results):
    systems = read_runs(results)
    (figure,) = opening.figures(systems)
    assert figure.label == "P@1 of 100"
    assert opening.best_baseline(systems, figure).label == "TF-IDF"
    assert opening.best_baseline(systems, figure, pretrained=True).label == "lm"


def test_differences_are_over_the_same_items_and_means_over_seeds(results):
    table = opening.differences(read_runs(results))
    cells = {row.label: row.cells[0] for row in table.rows}
    # By hand: TF-IDF has 1/2 in each block; the seeds of `plain` are 0 and 1/2 above it.
    assert cells["plain"].value == pytest.approx(0.25)
    assert cells["plain"].interval == pytest.approx([0.25, 0.25])
    assert cells["plain"].deviation == pytest.approx(0.5 / 2**0.5)
    assert cells["worse"].value == pytest.approx(0.5)
    assert table.notes[0].startswith("The baselines: P@1 of 100: TF-IDF.")


def test_what_is_ranked_in_context_is_compared_with_baselines_that_read_the_input_alone(results):
    in_context = dataclasses.replace(ranking(1, 2, 1, 1), name="response_ranking-in-context")
    store.write(in_context, results / "plain-0")
    systems = read_runs(results)
    alone, figure = opening.figures(systems)
    assert (figure.label, alone.label) == ("P@1 of 100, in context", "P@1 of 100")
    assert opening.best_baseline(systems, figure).label == "TF-IDF"
    cells = {row.label: row.cells for row in opening.differences(systems).rows}
    assert cells["plain"][0].value == pytest.approx(0.25)  # the mean of both seeds
    assert cells["plain"][1].value == pytest.approx(0.25)  # 3 of 4, of one seed
    assert cells["worse"][1] == Cell()
    (table,) = [one for one in paper_tables.tables(systems) if one.title.startswith("Table 1")]
    labels = [row.label for row in table.rows]
    assert labels[labels.index("plain") + 1] == "plain, in context"
    assert labels.count("TF-IDF") == 1


def test_other_items_have_no_difference(results):
    systems = read_runs(results)
    (figure,) = opening.figures(systems)
    baseline = opening.best_baseline(systems, figure)
    one = opening.best_baseline(systems, figure, pretrained=True)
    other = Scored("worse", OURS, [ranking(1, 1, 1, 1, 1, 1)])
    assert opening.difference(other, baseline, figure) == Cell()
    assert opening.difference(one, baseline, figure).value == pytest.approx(0.5)


def test_the_page_opens_with_three_sentences_and_a_table(results):
    sentences, table, rule = opening.markdown(read_runs(results), {"distilled": "a teacher"})
    assert sentences == (
        "The best rows on STS-B dev are `plain` from scratch (0.710 ± 0.014) and `distilled` with "
        "a teacher (0.800); the table shows their scores on data on which nothing was chosen. "
        "Compared with the best simple baseline on the same items, `plain` is ahead on (P@1 of "
        "100), where level means that the 95% interval of the difference includes 0. Pretrained "
        "models that score higher than `plain`: lm (P@1 of 100)."
    )
    header, _, line = table.splitlines()
    assert [cell.strip() for cell in header.strip("|").split("|")] == [
        *("", "n", "ours, from scratch: plain", "ours, with a teacher: distilled"),
        *("best simple baseline", "pretrained", "paper, Reddit", "paper, Reddit+NLI"),
    ]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        *("P@1 of 100", "4", "0.750 ± 0.354 [0.250, 0.750]", "0.500 [0.250, 0.750]"),
        *("0.500 [0.250, 0.750], TF-IDF", "1.000 [0.250, 0.750], lm", "0.561", "-"),
    ]
    assert "Compare each score with the best simple baseline" in rule


def test_other_data_have_neither_the_papers_figures_nor_their_names(tmp_path):
    def put(run, rank, candidates):
        one = dataclasses.replace(
            ranking(1, rank, 1, rank), settings={"candidates": candidates}, data={"sha256": "ab"}
        )
        sts = Result(
            task="sts", name="sts-test", system="module", metrics={"pearson": 0.5}, n=60, items=[]
        )
        for found in (one, sts, dev(0.7)):
            store.write(found, tmp_path / run)

    put("plain-0", 1, 20)
    put("baselines/words", 2, 20)
    systems = read_runs(tmp_path)
    assert [(one.label, one.papers) for one in opening.figures(systems)] == [
        ("sts-test, r", (Cell(), Cell())),
        ("P@1 of 20", (Cell(), Cell())),
    ]
    sentences, *_ = opening.markdown(systems, {})
    assert "`plain` is ahead on (P@1 of 20)" in sentences
    assert (
        "Not compared, because the items differ or are too few for an interval: sts-test, r."
        in (sentences)
    )


def test_what_a_pretrained_model_has_read_is_said_below_the_table(results):
    (results / "baselines" / "lm").rename(results / "baselines" / "all-MiniLM-L6-v2_mapped")
    _, table, note, _ = opening.markdown(read_runs(results), {})
    assert "1.000 [0.250, 0.750], all-MiniLM-L6-v2 mapped" in table
    assert note.startswith("The training data of all-MiniLM-L6-v2 include Reddit comments of 2015")


def test_unknown_rows_are_named(results, tmp_path, capsys):
    (tmp_path / "COMPLETED").write_text('{"outputs": {"train-0": {"records": 1}}}')
    asked = ["rows", "--results", str(results), "--pairs", str(tmp_path)]
    asked += ["--output", str(tmp_path / "page.md"), "--outside"]
    assert main([*asked, "nobody=a teacher"]) == 1
    assert "--outside: no row nobody; there are distilled, plain, worse" in capsys.readouterr().err
    assert main([*asked, "plain"]) == 1
    assert "--outside plain: NAME=WHAT is accepted" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()


def test_a_baseline_without_the_figure_is_none(results):
    one = dataclasses.replace(ranking(1, 2), metrics={"p_at_1": None}, intervals={})
    systems = [System("alone", BASELINE, ({one.name: one},))]
    assert opening.best_baseline(systems, opening.Figure("", one.name, "p_at_1")) is None
