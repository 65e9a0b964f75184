"""The main figures: our rows beside the baselines on the same items, and the paper's; a verdict.

A baseline is simple if it needs no pretrained model; the others are rivals.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.analysis.paired_test import Difference
from evaluation.report.scores import BASELINE, OTHER, OURS, Score, mean
from evaluation.report.tables import CANDIDATES, Main, Table, interval_of, is_papers
from evaluation.results.measure import FEW_UNITS, systems
from evaluation.results.result import (
    ALL,
    CEILING,
    DECLARED,
    SYSTEMS,
    Result,
    data_name,
    label,
    main_metric,
)

SIMPLE, DIFFERENCE = "best simple baseline", "difference"
CHANCE = "chance"
OTHERS: dict[str, Callable[[Score], bool]] = {
    SIMPLE: lambda score: not score.was("pretrained"),
    "best static rival": lambda score: score.was("pretrained") and score.was("static"),
    "best rival": lambda score: score.was("pretrained"),
}
"""What a row is compared with: the highest figure of some of the baselines."""
PAPERS = ("paper, Reddit", "paper, Reddit+NLI")
LEVEL = 0.05  # a difference is real if p is below it
FEWEST_PAIRS = 200
"""Of response ranking; with fewer nothing is said, nor with fewer than `FEW_UNITS` of others."""
CHOSEN_ON = Main("STS-B dev, r", "sts-dev", "pearson")  # rows are chosen by it


def main_figures(scores: Sequence[Score], mains: Sequence[Main]) -> dict[str, Main]:
    """Return those of the main figures that one of our rows has, by their labels."""
    found = {}
    for main in mains:
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


def baselines(scores: Sequence[Score], main: Main) -> list[Score]:
    """Return a main figure of every baseline: of chance too, but not of the ceiling."""
    found = of_figure(scores, main, BASELINE, main.of_baselines)
    return [score for score in found if score.column != CEILING]


def best_of(scores: Sequence[Score], main: Main, others: str) -> Score | None:
    """Return the highest figure of some baselines, as `OTHERS` names them."""
    found = filter(OTHERS[others], baselines(scores, main))
    return max(found, key=lambda score: score.value, default=None)


def best_rows(scores: Sequence[Score], outside: Mapping[str, str]) -> dict[str, str]:
    """Return by kind the row with the highest r on STS-B dev; that from scratch, "", comes first.

    `outside` says by a row's label what it has from outside the training data, such as `a teacher`.
    """
    best: dict[str, str] = {}
    for score in sorted(of_figure(scores, CHOSEN_ON, OURS), key=lambda score: -score.value):
        best.setdefault(outside.get(score.system, ""), score.system)
    return dict(sorted(best.items()))


def main_table(
    scores: Sequence[Score], figures: Mapping[str, Main], rows: Sequence[str], *, title: str
) -> Table:
    """Return main figures, a row each, of some rows, baselines and the paper.

    The difference is that of the first row from the best simple baseline.
    """
    cells = []
    for name, main in figures.items():
        ours = {one.system: one for one in of_figure(scores, main, OURS) if one.system in rows}
        simple = best_of(scores, main, SIMPLE)
        shown = {row: ours.get(row) for row in rows} | {SIMPLE: simple}
        shown |= {one.system: one for one in baselines(scores, main) if one.was("pretrained")}
        there = {header: score for header, score in shown.items() if score}
        cells += [Score(name, OURS, one.results[0].n, header="n") for one in [*there.values()][:1]]
        for header, score in there.items():
            of = score.system if header == SIMPLE else ""
            cells.append(score._replace(row=name, kind=OURS, header=header, of=of))
        if simple and (first := ours.get(next(iter(rows), ""))):
            cells += difference(first, simple, name, DIFFERENCE)
        if all(is_papers(score.results[0]) for score in ours.values()):
            for header, value in zip(PAPERS, main.paper, strict=False):
                if value is not None:
                    ends = interval_of(value, main.interval, data_name(main.data))
                    cells.append(Score(name, OURS, value, ends, header=header))
    last = (DIFFERENCE, *PAPERS)  # behind what the first figure does not have
    cells.sort(key=lambda cell: cell.header in last and 1 + last.index(cell.header))
    return Table("main", title, cells)


def differences(scores: Sequence[Score], figures: Mapping[str, Main]) -> Table:
    """Return every row's differences from the best of each kind of `OTHERS`, a block each."""
    cells = []
    for others in OTHERS:
        for name, main in figures.items():
            if best := best_of(scores, main, others):
                about: Any = {"block": others, "name": name, "of": best.system}
                for score in of_figure(scores, main, OURS):
                    found = difference(score, best, score.system, f"{name}: {best.system}")
                    cells += [cell._replace(**about) for cell in found]
    return Table("differences", "Differences from the best baselines on the same items", cells)


def standings(
    differing: Table, figures: Mapping[str, Main], rows: Sequence[str]
) -> dict[str, dict[str, dict[str, Score]]]:
    """Return by row, kind of `OTHERS` and figure the differences that have an interval.

    Figures for which a row reads what the baselines do not are left out.
    """
    found: dict[str, dict[str, dict[str, Score]]] = {row: {} for row in rows}
    for cell in differing.cells:
        if cell.row in found and cell.interval and not figures[cell.name].of_baselines:
            found[cell.row].setdefault(cell.block, {})[cell.name] = cell
    return {row: of_row for row, of_row in found.items() if of_row}


def difference(score: Score, baseline: Score, row: str, header: str) -> list[Score]:
    """Return by how much a score is above a baseline's on the same items, as the mean of its runs.

    Empty where the items were not the same, or are not stored.
    """
    if baseline.column == CHANCE:  # it is exact: the difference varies as the score does
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


def verdict(scores: Sequence[Score], row: str) -> str:
    """Return which system to use for each data set of our row that another one was scored on.

    The best of the others is compared with the row by the paired bootstrap. It was chosen on these
    items, which favours it: where the row is worse, p is multiplied by their number (Bonferroni).
    """
    clauses = []
    for main in figures_of(scores, row).values():
        (ours,) = of_figure(scores, main, OURS)
        others = [*of_figure(scores, main, OTHER), *baselines(scores, main)]
        # Of chance there are no items.
        others = [one for one in others if one.column in ("", *systems(one.results[0]))]
        if others:
            best = max(others, key=lambda score: score.value)
            of: Any = {"system_a": best.column or None, "metrics": [main.metric]}
            (difference,) = paired_test.compare(best.results[0], ours.results[0], **of)
            clauses.append(_clause(ours.results[0], best.system, len(others), difference))
    said = "; ".join(clauses)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _clause(result: Result, other: str, others: int, of: Difference) -> str:
    """Return what to use; the difference is the module's figure less the best other's."""
    ours, kind, metric = SYSTEMS["module"], result.name, label(of.figure)
    fewest, items = FEW_UNITS, DECLARED[result.task].units
    if result.task == "response_ranking":
        _, _, of_pairs = kind.partition("-")
        kind = f"replies of {of_pairs}" if of_pairs else "replies"
        fewest, items = FEWEST_PAIRS, "pairs"
    if candidates := result.settings.get("candidates"):
        metric += f" of {candidates}"
    best = f"{other} (the best of {others} others)" if others > 1 else other
    both = f"{metric} {of.b:.3f} and {of.a:.3f} on {result.n:,} {items}"
    if result.n < fewest or of.interval is None or of.p is None:
        return (
            f"for {kind}, the difference between {ours} and {best} is not known: {both}, and "
            f"fewer than {fewest} are too few"
        )
    leads = of.difference > 0
    p = of.p if leads else min(1.0, of.p * others)
    tests = f" for {others} comparisons" if not leads and others > 1 else ""
    why = f"(p = {p:.3f}{tests}; {both})"
    low, high = of.interval if leads else (-of.interval[1], -of.interval[0])
    by = f"by {abs(of.difference):.3f} [{low:.3f}, {high:.3f}]"
    if p >= LEVEL:
        place = f"the first {'leads' if leads else 'trails'} {by}"
        return f"for {kind}, use {ours} or {best}: {place}, which may be chance {why}"
    said = f"{ours}: it beats {best}" if leads else f"{best}: {ours} loses to it"
    return f"for {kind}, use {said} {by}, and the difference is real {why}"
