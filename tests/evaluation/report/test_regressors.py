"""Results of the STS regressors in the report: the rows, what leaks, and what may be claimed."""

from evaluation.report import html_page, paper, regressors
from evaluation.report.cells import OTHER, OURS
from evaluation.report.systems import System
from evaluation.results.result import Result
from model.sts_regression.experiments import TABLE_2

LABELS = {
    "lstm2_lstm2": "2 LSTM Stack and 2 LSTM Stack",
    "sif_perceptron": "SIF and Perceptron",
    "cosine": "Cosine of the module",
}


def of_row(row, r, interval, *, way="random", diverged=0, alike=0, folds=3):
    is_module = row == "cosine"
    trained = {"epochs": 25, "epoch_share": 0.5, "units": 0, "learning_rate": 1e-4}
    trained |= {"gates": "printed", "clip_norm": 0.0}
    tests = {"sts2017_track5": {"pairs": 250, "pairs_with_a_sentence_that_trains": 4}}
    return Result(
        task="sts_regression",
        name=f"sts_regression-sts2016-{way}-{row}",
        system="module" if is_module else row,
        metrics={"pearson": r, "pearson_in_sample": 0.9, "pearson_sts2017_track5": 0.5, "mse": 1.5},
        intervals={"pearson": interval} if interval else {},
        n=1186,
        counts={
            "folds_that_diverged": diverged,
            "folds_without_a_correlation": alike,
            "pairs_held_out_with_a_sentence_that_trains": 496 if way == "random" else 0,
        },
        settings={"folds": folds, "folds_by": way, "row": row, "label": LABELS[row]}
        | ({} if is_module else trained),
        data={
            "file": "sts2016",
            "sha256": "0",
            "word_vectors": "glove.txt",
            "word_dim": 50,
            "tests": tests,
        },
        module={"path": "module", "fingerprint": "7"} if is_module else None,
    )


def module(*results):
    return [System("this module", OURS, ({result.name: result for result in results},))]


RANDOM = module(
    of_row("sif_perceptron", 0.2, [0.1, 0.3]),
    of_row("lstm2_lstm2", 0.6, [0.5, 0.7]),
    of_row("cosine", 0.75, [0.72, 0.78]),
)


def tables_of(systems):
    return regressors.tables(result for one in systems for result in one.results())


def test_our_rows_come_in_the_papers_order_and_the_papers_behind_them():
    (table,) = tables_of(RANDOM)
    assert table.headers == ["out of sample", "in sample", "sts2017_track5"]
    ours = [row for row in table.rows if row.kind != "paper"]
    assert [row.label for row in ours] == [
        "2 LSTM Stack and 2 LSTM Stack",
        "SIF and Perceptron",
        "Cosine of the module",
    ]
    assert [cell.text for cell in ours[0].cells] == ["0.600", "0.900", "0.500"]
    assert ours[0].cells[0].interval_text == "[0.500, 0.700]"
    assert [row.kind for row in ours] == ["baseline", "baseline", "ours"]
    papers = [row for row in table.rows if row.kind == "paper"]
    assert len(papers) == 11
    assert [cell.text for cell in papers[0].cells] == ["0.861", "0.996", "-"]


def test_the_rows_that_are_trained_are_those_of_the_paper():
    assert {row.label: row.paper for row in TABLE_2.values()} == paper.REGRESSORS


def test_what_leaks_and_what_was_computed_is_said():
    (table,) = tables_of(RANDOM)
    notes = " ".join(table.notes)
    assert "1,186 pairs, 3 folds" in notes
    assert "496 pairs held out share a sentence with a training pair" in notes
    assert "sts2017_track5: 4 of its 250 pairs do." in notes
    assert "0.5 of the paper's epochs" in notes
    assert "glove.txt, 50 numbers; learning rate 0.0001; gates: printed" in notes
    assert "gradients cut off at: nothing." in notes
    (table,) = tables_of(module(of_row("lstm2_lstm2", None, None, diverged=2)))
    assert "Folds that diverged: 2 LSTM Stack and 2 LSTM Stack (2)." in table.notes
    (table,) = tables_of(module(of_row("lstm2_lstm2", None, None, alike=1)))
    assert "correlation: 2 LSTM Stack and 2 LSTM Stack (1)." in " ".join(table.notes)


def test_a_single_split_is_not_called_a_fold():
    (table,) = tables_of(module(of_row("lstm2_lstm2", 0.6, None, way="own_split", folds=1)))
    assert table.title.endswith("Pearson's r on sts2016, its own split")
    assert "1,186 pairs, in the split that they come with" in table.notes[0]


def test_what_grouping_does_has_a_table_where_both_ways_were_run():
    both = module(
        of_row("lstm2_lstm2", 0.6, [0.5, 0.7]),
        of_row("lstm2_lstm2", 0.45, [0.4, 0.5], way="sentences"),
        of_row("sif_perceptron", 0.2, [0.1, 0.3]),
    )
    *_, grouping = tables_of(both)
    (row,) = grouping.rows
    assert [cell.text for cell in row.cells] == ["0.600", "0.450", "-0.150"]


def test_the_page_shows_them_with_their_settings():
    page = html_page.render(RANDOM, html_page.all_tables(RANDOM))
    assert "Regressors (Prijatelj et al. 2017, table 2)" in page
    assert "<dd>2 LSTM Stack and 2 LSTM Stack</dd>" in page
    assert "1,186" in page


def test_no_table_without_such_results():
    assert tables_of([System("this module", OURS, ({},))]) == []


def test_regressors_of_two_folders_have_tables_of_their_own():
    other = System("older", OTHER, ({"x": of_row("lstm2_lstm2", 0.2, None, folds=3)},))
    found = html_page.all_tables([*RANDOM, other])
    assert [(len(table.rows), table.title.split("; ")[-1]) for table in found] == [
        (3 + len(paper.REGRESSORS), "this module"),
        (1 + len(paper.REGRESSORS), "older"),
    ]
