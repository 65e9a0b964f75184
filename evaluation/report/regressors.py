"""Table 2 of Prijatelj et al. 2017: regressors trained on pairs, beside the cosine of a module.

Made of the result files that `python -m model.sts_regression run` writes: one for each row and way
of making and beginning folds. A figure is a mean over folds; its interval is of that mean.
"""

from collections.abc import Iterable
from dataclasses import replace

from evaluation.report import paper
from evaluation.report.cells import BASELINE, OURS, PAPER, Cell, Row, Table
from evaluation.results.result import Result

TASK = "sts_regression"
RANDOM, GROUPED, OWN = "random", "sentences", "own_split"
FRESH, CARRIED = "fresh", "carried"
Way = tuple[str, str]
"""How folds are made, and with which weights they begin."""
_OUT, _IN = "pearson", "pearson_in_sample"
_MODULE = "module"
_LOST = {
    "folds_that_diverged": "Folds that diverged",
    "folds_without_a_correlation": "Folds that score all pairs alike, which have no correlation",
}


def tables(found: Iterable[Result], *, of: str = "") -> list[Table]:
    """Return a table for each corpus and way of making folds, and those that compare two ways.

    `found` are results of `TASK` from one folder; `of` is its name, where there are several.
    """
    made = []
    for corpus, by_way in _sorted(found).items():
        for folds_by in (RANDOM, GROUPED):
            both = [by_way.get((folds_by, weights), []) for weights in (FRESH, CARRIED)]
            if all(both):
                made.append(_readings(corpus, folds_by, *both))
        made += [_table(corpus, way, results) for way, results in by_way.items()]
        if {(RANDOM, FRESH), (GROUPED, FRESH)} <= by_way.keys():
            made.append(_grouping(corpus, by_way[RANDOM, FRESH], by_way[GROUPED, FRESH]))
    return [replace(table, title=f"{table.title}; {of}") for table in made] if of else made


def _sorted(found: Iterable[Result]) -> dict[str, dict[Way, list[Result]]]:
    """Return the results by corpus and way, each in the order of the paper's table."""
    by_corpus: dict[str, dict[Way, list[Result]]] = {}
    for result in found:
        folds_by, row = str(result.settings["folds_by"]), str(result.settings["row"])
        weights = str(result.settings.get("weights_between_folds", FRESH))
        way = folds_by if weights == FRESH else f"{folds_by}_{weights}"
        corpus = result.name.removeprefix(f"{TASK}-").removesuffix(f"-{way}-{row}")
        by_corpus.setdefault(corpus, {}).setdefault((folds_by, weights), []).append(result)
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


def _table(corpus: str, way: Way, results: list[Result]) -> Table:
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


def _ways(way: Way) -> str:
    folds_by, weights = way
    said = {RANDOM: "random folds", GROUPED: "no sentence in two folds", OWN: "its own split"}
    return said.get(folds_by, folds_by) + (", carried weights" if weights == CARRIED else "")


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
    notes.append(f"{shared:,} pairs held out share a sentence with a training pair.")
    notes += [
        f"{name}: {test['pairs_with_a_sentence_that_trains']:,} of its {test['pairs']:,} pairs do."
        for name, test in first.data.get("tests", {}).items()
    ]
    for key, what in _LOST.items():
        counted = ((_label(r), r.counts[key]) for r in results)
        if lost := [f"{label} ({n})" for label, n in counted if n]:
            notes.append(f"{what}: {', '.join(lost)}.")
    return notes


def _readings(corpus: str, folds_by: str, fresh: list[Result], carried: list[Result]) -> Table:
    """The paper's figures, beside those of weights that begin anew in each fold or are carried."""
    of_carried = {_label(result): result for result in carried}
    rows = []
    for result in fresh:
        if (label := _label(result)) in of_carried:
            other = of_carried[label]
            printed = paper.REGRESSORS.get(label, [None, None])
            if corpus != paper.REGRESSORS_CORPUS:
                printed = [None, None]
            cells = [
                *(Cell(printed[0]), _cell(result, _OUT), _cell(other, _OUT)),
                *(_fold(other, 0), _fold(other, -1)),
                *(Cell(printed[1]), _cell(result, _IN), _cell(other, _IN)),
            ]
            rows.append(Row(label, cells, _kind(result)))
    title = (
        f"Fresh or carried weights (Prijatelj et al. 2017, table 2): Pearson's r on {corpus}, "
        f"{_ways((folds_by, FRESH))}"
    )
    headers = ["paper", "fresh", "carried", "first fold", "last fold"]
    headers += [f"{name}, in sample" for name in ("paper", "fresh", "carried")]
    note = (
        "Carried: a fold begins with the weights of the fold before, so the pairs that it holds "
        "out have already trained."
    )
    return Table(title, headers, rows, [note])


def _fold(result: Result, number: int) -> Cell:
    return Cell(result.items[number].get("out_of_sample", {}).get(_OUT))


def _grouping(corpus: str, of_random: list[Result], of_sentences: list[Result]) -> Table:
    """What a score loses when no sentence trains and is held out."""
    grouped = {_label(result): result for result in of_sentences}
    rows = []
    for result in of_random:
        if (label := _label(result)) in grouped:
            before, after = _cell(result, _OUT), _cell(grouped[label], _OUT)
            if before.value is not None and after.value is not None:
                change = Cell(after.value - before.value)
                rows.append(Row(label, [before, after, change], _kind(result)))
    title = f"What grouping the folds of {corpus} by sentence does: Pearson's r out of sample"
    ways = [_ways((folds_by, FRESH)) for folds_by in (RANDOM, GROUPED)]
    return Table(title, [*ways, "change"], rows)
