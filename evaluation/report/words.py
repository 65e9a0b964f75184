"""What the figures show, in sentences that claim no more than their 95% intervals allow.

Better or worse is said of a paired bootstrap whose interval leaves out no difference; everything
else cannot be told apart. The paper's figures have no intervals of their own: they are said to lie
in or outside of ours, and only where the data are the paper's.
"""

from collections.abc import Iterator, Sequence

from evaluation.analysis import paired
from evaluation.errors import InputError
from evaluation.report import comparison, paper, systems
from evaluation.report.comparison import Cell
from evaluation.report.systems import (
    BASELINE,
    OTHER,
    Scored,
    System,
)
from evaluation.results.result import Result

# One figure of each task, the data it is told of (the first that is there), and how.
HEADLINES = (
    ("response_ranking", "p_at_1", "P@1", True),
    ("snli", "accuracy", "the accuracy", True),
    ("sts", "pearson", "Pearson's r", False),
    ("cqa", "map", "MAP", True),
)
UNBEATABLE = ("chance", "ceiling")
"""Systems that are no rivals."""


def paragraphs(found: Sequence[System], *, seed: int = 0) -> list[str]:
    """Return the text, a paragraph for each task, in the paper's order."""
    text = []
    for task, key, name, percent in HEADLINES:
        data = _data(found, task)
        if data is not None:
            cell = {"percent": percent, "decimals": 1 if percent else 3}
            text.append(" ".join(_task(found, data, key=key, name=name, seed=seed, **cell)))
    sweeps = [r for system in found for r in system.results.values() if r.task == "snli_sweep"]
    text += [_sweep(result) for result in sweeps if len(result.items) > 1]
    if missing := _missing(found):
        text.append(f"Not scored here: {missing}.")
    return text


def _data(found: Sequence[System], task: str) -> str | None:
    """Return which data of a task are told of: a test set that this module was scored on."""
    results = [r for r in found[0].results.values() if r.task == task and r.system == "module"]
    names = sorted((r.name for r in results), key=lambda name: ("test" not in name, name))
    # The benchmark itself before other similarity data.
    official = [name for name in ("sts-test", "sts-dev") if name in names]
    return next(iter([*official, *names]), None)


def _task(
    found: Sequence[System], data: str, *, key: str, name: str, seed: int, **how
) -> Iterator[str]:
    """Yield the sentences on one figure of one data set."""
    ours, *rest = list(systems.scored(found, data))
    result = ours.result
    cell = Cell(ours.metrics.get(key), ours.intervals.get(key), **how)
    units = {"cqa": "questions"}.get(result.task, "pairs")
    sure = f", 95% interval {_range(cell)}" if cell.interval_text else ", without an interval"
    yield f"{data} ({result.n:,} {units}): {name} is {_figure(cell)}{sure}."
    tuned = [one for one in rest if one.result.system == "module_tuned" and one.label[:4] == "this"]
    yield from _verdicts(ours, tuned, key=key, seed=seed, what="The same module tuned on STS train")
    others = [one for one in rest if one.kind == OTHER]
    yield from _verdicts(ours, others, key=key, seed=seed, what="")
    rivals = [one for one in rest if one.kind == BASELINE and one.column not in UNBEATABLE]
    yield from _rivals(ours, rivals, key=key, seed=seed)
    yield from _beside_the_paper(result, cell)
    yield from _contaminated(found[0], data, key=key, **how)


def _verdicts(
    ours: Scored, others: Sequence[Scored], *, key: str, seed: int, what: str
) -> Iterator[str]:
    """Yield a sentence on each of several modules."""
    says = {"better": "is worse", "worse": "is better", "same": "cannot be told apart from it"}
    for one in others:
        verdict = _verdict(ours, one, key=key, seed=seed)
        if verdict:
            yield f"{what or one.label} {says[verdict]}."


def _rivals(ours: Scored, rivals: Sequence[Scored], *, key: str, seed: int) -> Iterator[str]:
    """Yield one sentence on all baselines: which it beats, which beat it, and the others."""
    by_verdict: dict[str, list[str]] = {"better": [], "same": [], "worse": []}
    for one in rivals:
        verdict = _verdict(ours, one, key=key, seed=seed)
        if verdict:
            by_verdict[verdict].append(one.label)
    parts = [
        f"{words} {_listed(by_verdict[verdict])}"
        for verdict, words in (
            ("better", "better than"),
            ("same", "not to be told apart from"),
            ("worse", "worse than"),
        )
        if by_verdict[verdict]
    ]
    if parts:
        yield f"On the same items the module is {'; '.join(parts)}."


def _verdict(ours: Scored, other: Scored, *, key: str, seed: int) -> str | None:
    """Return better, worse or same, of ours; None where the two were not scored on the same."""
    try:
        found = paired.compare(other.result, ours.result, seed=seed, system_a=other.column)
    except InputError:
        return None
    for row in found:
        if row.figure == key and row.interval is not None:
            low, high = row.interval
            return "better" if low > 0 else "worse" if high < 0 else "same"
    return None


def _beside_the_paper(result: Result, cell: Cell) -> Iterator[str]:
    """Yield where the paper's figures lie, if they are on the same data."""
    figures: dict[str, float] = {}
    if result.name in paper.STS_PAIRS and result.n == paper.STS_PAIRS[result.name]:
        split = result.name.removeprefix("sts-")
        figures = {name: paper.TABLE_3[name][split] for name in ("Reddit", "Reddit+SNLI")}
    elif result.n == paper.SNLI_PAIRS.get(result.name):
        figures = {"Reddit+SNLI": paper.TABLE_2["Reddit+SNLI"]}
    elif result.task == "cqa" and comparison.same_cqa(result):
        figures = {name: paper.TABLE_6[name] for name in ("Reddit", "Reddit+SNLI")}
    if not figures:
        yield "The paper's figures are on other data and do not compare."
        return
    if not cell.interval:
        return
    low, high = cell.interval
    for name, value in figures.items():
        where = "above" if value > high else "below" if value < low else "within"
        printed = _figure(Cell(value, percent=cell.percent, decimals=cell.decimals))
        yield f"The paper's {name} model has {printed}, {where} this interval."


def _contaminated(system: System, data: str, *, key: str, **how) -> Iterator[str]:
    """Yield what of the data was in the training records, if that was looked for."""
    found = system.results.get(f"contamination-{data}")
    if found is None:
        return
    pairs, texts = (
        found.counts.get("pairs_in_training", 0),
        found.counts.get("texts_in_training", 0),
    )
    said = f"Of its items {pairs:,} are in the training records and {texts:,} have a text there"
    without = found.groups.get("without texts in training", {})
    cell = Cell(without.get("metrics", {}).get(key), without.get("intervals", {}).get(key), **how)
    if cell.value is not None:
        said += f"; without these the figure is {_figure(cell)} {cell.interval_text}".rstrip()
    yield f"{said}."


def _sweep(result: Result) -> str:
    """Return a sentence on figure 8: only what first and last interval show."""
    first, last = result.items[0], result.items[-1]
    said = []
    for kind, interval, name in (
        ("pearson", "interval", "all"),
        ("captions", "captions_interval", "captions"),
    ):
        a, b = (Cell(x["test"][kind], x["test"][interval]) for x in (first, last))
        if a.value is None or b.value is None:
            continue
        change = f"{name}: {a.text} {a.interval_text} to {b.text} {b.interval_text}"
        if not a.interval or not b.interval:
            said.append(change)
        elif b.interval[0] > a.interval[1]:
            said.append(f"{change}, a rise beyond both intervals")
        elif b.interval[1] < a.interval[0]:
            said.append(f"{change}, a fall beyond both intervals")
        else:
            said.append(f"{change}; the intervals overlap, so neither a rise nor a fall is shown")
    shares = f"{first['share']:.0%} to {last['share']:.0%}"
    return (
        f"From {shares} of the NLI data, one model each, Pearson's r on STS-B test goes, "
        f"{'; '.join(said)}. The intervals are of the test pairs; what another seed of the "
        "training would change is not in them."
    )


def _missing(found: Sequence[System]) -> str:
    """Return which tables and figures have no row of ours."""
    tasks = {r.task for r in found[0].results.values() if r.system != "search_engine"}
    wanted = (
        ("response_ranking", "table 1"),
        ("snli", "table 2"),
        ("sts", "tables 3 to 5 and figure 7"),
        ("snli_sweep", "figure 8"),
        ("cqa", "table 6"),
    )
    return _listed([name for task, name in wanted if task not in tasks])


def _figure(cell: Cell) -> str:
    return f"{cell.text}%" if cell.percent else cell.text


def _range(cell: Cell) -> str:
    low, high = cell.interval_text.strip("[]").split(", ")
    return f"{low} to {high}"


def _listed(names: Sequence[str]) -> str:
    """Return names as one writes them in a sentence."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
