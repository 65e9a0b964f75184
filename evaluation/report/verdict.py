"""Which system to use, in one sentence: the module or the best of the others, and how sure that is.

The best of the others is compared with the module by the paired bootstrap. It was chosen on these
items, which favours it: where the module is worse, p is multiplied by their number (Bonferroni).
"""

from collections.abc import Sequence
from typing import Any

from evaluation.analysis.paired_test import Difference, compare
from evaluation.metrics.declared import label
from evaluation.report import comparison
from evaluation.report.scores import OTHER, OURS, Score
from evaluation.results.measure import FEW_UNITS, systems
from evaluation.results.result import DECLARED, SYSTEMS, Result

LEVEL = 0.05
"""A difference is real if p is below it."""
FEWEST_PAIRS = 200
"""Of response ranking; with fewer nothing is said, nor with fewer than `FEW_UNITS` of others."""


def sentence(scores: Sequence[Score], row: str) -> str:
    """Return the verdicts on all data sets of our row that another system was scored on."""
    clauses = []
    for main in comparison.figures_of(scores, row).values():
        (ours,) = comparison.of_figure(scores, main, OURS)
        others = [*comparison.of_figure(scores, main, OTHER), *comparison.baselines(scores, main)]
        # Of chance there are no items.
        others = [one for one in others if one.column in ("", *systems(one.results[0]))]
        if others:
            best = max(others, key=lambda score: score.value)
            of: Any = {"system_a": best.column or None, "metrics": [main.metric]}
            (difference,) = compare(best.results[0], ours.results[0], **of)
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
