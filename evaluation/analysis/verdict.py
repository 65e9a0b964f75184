"""Which system to use, in one sentence: the module or the best of the others, and how sure that is.

Of the others, the one with the highest main metric is compared with the module on the same items,
by the paired bootstrap. It was chosen on these items, which favours it: where the module is better,
it is better than each. Where it is worse, p is multiplied by the number of the others (Bonferroni).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from evaluation.analysis.paired_test import Difference, compare
from evaluation.metrics.declared import label, main_metric
from evaluation.results.measure import FEW_UNITS, systems
from evaluation.results.result import CEILING, DECLARED, SYSTEMS, Result, data_name
from evaluation.results.runs import Run

LEVEL = 0.05
"""A difference is real if p is below it."""
FEWEST_PAIRS = 200
"""Of response ranking; with fewer nothing is said, nor with fewer than `FEW_UNITS` of others."""


class Verdict(NamedTuple):
    """The module and the best other system on one data set."""

    result: Result
    """The module's."""
    other: str
    others: int
    """Of how many the other is the best."""
    difference: Difference
    """The module's figure less the other's."""

    def clause(self) -> str:
        """Return what to use for such data, why, and whether the difference is real."""
        of, ours, task = self.difference, SYSTEMS["module"], DECLARED[self.result.task]
        is_ranking = self.result.task == "response_ranking"
        fewest = FEWEST_PAIRS if is_ranking else FEW_UNITS
        _, _, of_pairs = self.result.name.partition("-")
        replies = f"replies of {of_pairs}" if of_pairs else "replies"
        kind = replies if is_ranking else self.result.name
        candidates = self.result.settings.get("candidates")
        metric = label(of.figure) + (f" of {candidates}" if candidates else "")
        items = "pairs" if is_ranking else task.units
        best = f"{self.other} (the best of {self.others} others)" if self.others > 1 else self.other
        both = f"{metric} {of.b:.3f} and {of.a:.3f} on {self.result.n:,} {items}"
        if self.result.n < fewest or of.interval is None or of.p is None:
            return (
                f"for {kind}, the difference between {ours} and {best} is not known: {both}, and "
                f"fewer than {fewest} are too few"
            )
        sign = 1 if of.difference > 0 else -1
        p = of.p if sign > 0 else min(1.0, of.p * self.others)
        tests = f" for {self.others} comparisons" if sign < 0 and self.others > 1 else ""
        why = f"(p = {p:.3f}{tests}; {both})"
        ends = sorted(sign * end for end in of.interval)
        by = f"by {abs(of.difference):.3f} [{ends[0]:.3f}, {ends[1]:.3f}]"
        if p >= LEVEL:
            return (
                f"for {kind}, use {ours} or {best}: the first {'leads' if sign > 0 else 'trails'} "
                f"{by}, which may be chance {why}"
            )
        said = f"{ours}: it beats {best}" if sign > 0 else f"{best}: {ours} loses to it"
        return f"for {kind}, use {said} {by}, and the difference is real {why}"


def verdicts(runs: Sequence[Run], *, seed: int = 0) -> list[Verdict]:
    """Return the verdict on each data set of the first run that another system was scored on."""
    found = []
    for name, result in runs[0].results.items():
        metric = main_metric(result.metrics)
        if result.task not in DECLARED or data_name(name) != name or metric is None:
            continue
        # System -> its result, and its name there if it is a baseline.
        others = {
            **{of.system: (of.results[name], None) for of in runs[1:] if name in of.results},
            **{SYSTEMS.get(one, one): (result, one) for one in systems(result) if one != CEILING},
        }
        figures = {
            system: (of.baselines[one] if one else of.metrics).get(metric)
            for system, (of, one) in others.items()
        }
        known = {system: figure for system, figure in figures.items() if figure is not None}
        if known:
            best = max(known, key=known.__getitem__)
            other, baseline = others[best]
            of: Any = {"system_a": baseline, "metrics": [metric], "seed": seed}
            found.append(Verdict(result, best, len(known), compare(other, result, **of)[0]))
    return found


def sentence(found: Sequence[Verdict]) -> str:
    """Return all verdicts in one sentence; empty for none."""
    said = "; ".join(verdict.clause() for verdict in found)
    return f"{said[:1].upper()}{said[1:]}." if said else ""
