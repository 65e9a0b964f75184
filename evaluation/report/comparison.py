"""The main figures: our rows beside the best baselines on the same items, and the paper's.

A baseline is simple if it needs no pretrained model. Differences are those of the paired bootstrap
of `analysis.paired_test`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.metrics.declared import label, main_metric
from evaluation.report.scores import Score, mean
from evaluation.report.tables import CANDIDATES, MAIN, Main, Table, interval_of, is_papers
from evaluation.results.result import ALL, CEILING, DECLARED, data_name
from evaluation.results.runs import BASELINE, OURS

SIMPLE, PRETRAINED, DIFFERENCE = "best simple baseline", "pretrained", "difference"
CHANCE = "chance"
PAPERS = ("paper, Reddit", "paper, Reddit+NLI")
CHOSEN_ON = Main("STS-B dev, r", "sts-dev", "pearson")  # rows are chosen by it


def main_figures(scores: Sequence[Score]) -> dict[str, Main]:
    """Return the main figures of `paper.yaml` that one of our rows has, by their labels."""
    found = {}
    for main in MAIN:
        if ours := of_figure(scores, main, OURS):
            candidates = ours[0].results[0].settings.get("candidates", CANDIDATES)
            found[main.label.format(candidates=candidates)] = main
    return found


def figures_of(scores: Sequence[Score], system: str) -> dict[str, Main]:
    """Return the main figure of every data set of a system, by their labels."""
    return {
        f"{score.name}, {label(score.metric)}": Main("", score.name, score.metric)
        for score in scores
        if (score.row, score.group) == (system, ALL)
        and score.results[0].task in DECLARED
        and score.metric == main_metric(score.results[0].metrics)
    }


def of_figure(scores: Sequence[Score], main: Main, kind: str, name: str = "") -> list[Score]:
    """Return a main figure, or its metric on other data, of every system of a kind that has it."""
    wanted = (kind, name or main.data, main.metric, ALL)
    return [one for one in scores if (one.kind, one.name, one.metric, one.group) == wanted]


def best_baseline(scores: Sequence[Score], main: Main, *, pretrained: bool) -> Score | None:
    """Return the highest figure of the baselines, of the simple or of the pretrained ones.

    Chance is a simple one: others may be below it.
    """
    found = [
        score
        for score in of_figure(scores, main, BASELINE, main.of_baselines)
        if score.pretrained == pretrained and score.column != CEILING
    ]
    return max(found, key=lambda score: score.value, default=None)


def best_rows(scores: Sequence[Score], outside: Mapping[str, str]) -> dict[str, str]:
    """Return the row with the highest r on STS-B dev of those from scratch, and of each other kind.

    `outside` says by a row's label what it has from outside the training data, such as `a teacher`;
    rows that have nothing are of the kind "", which comes first.
    """
    best: dict[str, str] = {}
    for score in sorted(of_figure(scores, CHOSEN_ON, OURS), key=lambda score: -score.value):
        best.setdefault(outside.get(score.system, ""), score.system)
    return dict(sorted(best.items()))


def main_table(scores: Sequence[Score], figures: Mapping[str, Main], rows: Sequence[str]) -> Table:
    """Return main figures: those of some rows beside the best baselines and the paper's.

    The difference is that of the first row from the best simple baseline.
    """
    cells = []
    for name, main in figures.items():
        ours = {one.system: one for one in of_figure(scores, main, OURS) if one.system in rows}
        simple, pretrained = (best_baseline(scores, main, pretrained=of) for of in (False, True))
        shown = {row: ours.get(row) for row in rows} | {SIMPLE: simple, PRETRAINED: pretrained}
        there = {header: score for header, score in shown.items() if score}
        cells += [Score(name, OURS, one.results[0].n, header="n") for one in [*there.values()][:1]]
        for header, score in there.items():
            of = "" if header in rows else score.system
            cells.append(score._replace(row=name, kind=OURS, header=header, of=of))
        if simple and (first := ours.get(next(iter(rows), ""))):
            cells += difference(first, simple, name, DIFFERENCE)
        if all(is_papers(score.results[0]) for score in ours.values()):
            for header, value in zip(PAPERS, main.paper, strict=False):
                if value is not None:
                    ends = interval_of(value, main.interval, data_name(main.data))
                    cells.append(Score(name, OURS, value, ends, header=header))
    return Table("main", "Main scores, beside the best baselines on the same items", cells)


def differences(scores: Sequence[Score]) -> Table:
    """Return every trained row's differences from the best simple baseline of each figure."""
    cells = []
    for name, main in main_figures(scores).items():
        if simple := best_baseline(scores, main, pretrained=False):
            for score in of_figure(scores, main, OURS):
                cells += difference(score, simple, score.system, f"{name}: {simple.system}")
    title = "Difference from the best simple baseline on the same items"
    return Table("differences", title, cells)


def difference(score: Score, baseline: Score, row: str, header: str) -> list[Score]:
    """Return by how much a score is above a baseline's on the same items, as the mean of its runs.

    Empty where the items were not the same, or are not stored. Chance is exact and has no items:
    the difference varies as the score does.
    """
    if baseline.column == CHANCE:
        ends = score.interval and [end - baseline.value for end in score.interval]
        above = score.value - baseline.value
        return [Score(row, OURS, above, ends, score.deviation, header=header)]
    of: Any = {"system_a": baseline.column or None, "metrics": [score.metric]}
    try:
        found = [paired_test.compare(baseline.results[0], run, **of)[0] for run in score.results]
    except InputError:
        return []
    means = mean([one.difference for one in found], [one.interval for one in found])
    return [Score(row, OURS, *means, header=header)]
