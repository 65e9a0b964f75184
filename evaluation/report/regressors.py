"""Table 2 of Prijatelj et al. 2017: regressors trained on pairs, beside the cosine of a module.

Made of the result files that `python -m model.sts_regression run` writes: one for each row and way
of making folds. A figure is a mean over folds; its interval is of that mean.
"""

from collections.abc import Iterable

from evaluation.report import paper
from evaluation.report.tables import BASELINE, OURS, PAPER, Cell, Row, Table
from evaluation.results.result import Result

TASK = "sts_regression"
RANDOM, GROUPED, OWN = "random", "sentences", "own_split"
_OUT, _IN = "pearson", "pearson_in_sample"
_MODULE = "module"
_LOST = {
    "folds_that_diverged": "Folds that diverged",
    "folds_without_a_correlation": "Folds that score all pairs alike, which have no correlation",
}


def tables(found: Iterable[Result]) -> list[Table]:
    """Return a table for each corpus and way of making folds, and one of what grouping changes.

    `found` are results of `TASK`.
    """
    made = []
    for corpus, by_way in _sorted(found).items():
        made += [_table(corpus, way, results) for way, results in by_way.items()]
        if {RANDOM, GROUPED} <= by_way.keys():
            made.append(_grouping(corpus, by_way))
    return made


def _sorted(found: Iterable[Result]) -> dict[str, dict[str, list[Result]]]:
    """Return the results by corpus and way, each in the order of the paper's table."""
    by_corpus: dict[str, dict[str, list[Result]]] = {}
    for result in found:
        way, row = str(result.settings["folds_by"]), str(result.settings["row"])
        corpus = result.name.removeprefix(f"{TASK}-").removesuffix(f"-{way}-{row}")
        by_corpus.setdefault(corpus, {}).setdefault(way, []).append(result)
    order = list(paper.REGRESSORS)
    for by_way in by_corpus.values():
        for some in by_way.values():
            some.sort(key=lambda r: order.index(_label(r)) if _label(r) in order else len(order))
    return by_corpus


def _label(result: Result) -> str:
    return str(result.settings["label"])


def _kind(result: Result) -> str:
    return OURS if result.system == _MODULE else BASELINE


def _cell(result: Result, key: str) -> Cell:
    return Cell(result.metrics.get(key), result.intervals.get(key))


def _table(corpus: str, way: str, results: list[Result]) -> Table:
    tests = sorted({key for r in results for key in r.metrics if key.startswith("pearson_")})
    keys = [_OUT, _IN, *[key for key in tests if key != _IN]]
    rows = [
        Row(_label(result), [_cell(result, key) for key in keys], _kind(result), "here")
        for result in results
    ]
    rows += [
        Row(label, [Cell(value) for value in figures] + [Cell()] * (len(keys) - 2), PAPER, "paper")
        for label, figures in paper.REGRESSORS.items()
        if corpus == paper.REGRESSORS_CORPUS
    ]
    headers = ["out of sample", "in sample", *[key.removeprefix("pearson_") for key in keys[2:]]]
    title = f"Regressors (Prijatelj et al. 2017, table 2): Pearson's r on {corpus}, {_ways(way)}"
    return Table(title, headers, rows, _notes(results))


def _ways(way: str) -> str:
    said = {RANDOM: "random folds", GROUPED: "no sentence in two folds", OWN: "its own split"}
    return said.get(way, way)


def _notes(results: list[Result]) -> list[str]:
    """Say how much was computed, what diverged and what leaks."""
    first = next((r for r in results if "epochs" in r.settings), results[0])
    settings, counts = first.settings, first.counts
    folds = int(str(settings["folds"]))
    notes = [
        f"{first.n:,} pairs, {folds} folds; means over folds, with their intervals."
        if folds > 1
        else f"{first.n:,} pairs, in the split that they come with; intervals over pairs held out."
    ]
    if "epochs" in settings:
        units = settings["units"] or "as many as the word vectors are wide"
        notes.append(
            f"Trained for {settings['epoch_share']:g} of the paper's epochs; units: {units}; "
            f"word vectors: {first.data['word_vectors']}, {first.data['word_dim']} numbers; "
            f"learning rate {settings['learning_rate']:g}; gates: {settings['gates']}; gradients "
            f"cut off at: {settings['clip_norm'] or 'nothing'}."
        )
    shared = counts["pairs_held_out_with_a_sentence_that_trains"]
    notes.append(f"{shared:,} pairs held out have a sentence that also trains.")
    notes += [
        f"{name}: {test['pairs_with_a_sentence_that_trains']:,} of its {test['pairs']:,} pairs do."
        for name, test in first.data.get("tests", {}).items()
    ]
    for key, what in _LOST.items():
        counted = ((_label(r), r.counts[key]) for r in results)
        if lost := [f"{label} ({n})" for label, n in counted if n]:
            notes.append(f"{what}: {', '.join(lost)}.")
    return notes


def _grouping(corpus: str, by_way: dict[str, list[Result]]) -> Table:
    """What a score loses when no sentence trains and is held out."""
    grouped = {_label(result): result for result in by_way[GROUPED]}
    rows = []
    for result in by_way[RANDOM]:
        if (label := _label(result)) in grouped:
            before, after = _cell(result, _OUT), _cell(grouped[label], _OUT)
            if before.value is not None and after.value is not None:
                change = Cell(after.value - before.value)
                rows.append(Row(label, [before, after, change], _kind(result)))
    title = f"What grouping the folds of {corpus} by sentence does: Pearson's r out of sample"
    return Table(title, [_ways(RANDOM), _ways(GROUPED), "change"], rows)
