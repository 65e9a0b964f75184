"""What the page of results opens with: three sentences, and one table of the main figures.

Beside our best row stands, for each figure, the best simple baseline on the same items. Rows are
compared with it by the paired bootstrap of `analysis.paired_test`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tabulate import tabulate

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.metrics import from_size
from evaluation.report import paper
from evaluation.report.cells import BASELINE, NONE, OURS, Cell, Row, Table, mean
from evaluation.report.paper_tables import (
    TRAINED_ON,
    is_papers,
    is_synthetic,
    papers_correlation,
)
from evaluation.report.systems import Scored, System, names, scored
from evaluation.results.result import IN_CONTEXT, Result, data_name

CHOSEN_ON = ("sts-dev", "pearson")
NOT_SIMPLE = ("ceiling",)
"""Columns of results that are no baseline."""
RULE = """\
In brackets: 95% intervals, by 2,000 bootstrap resamples of the items (pairs of sentences,
queries, or blocks of candidates). A row with several seeds shows the mean ± the standard
deviation over seeds, and the mean of its runs' intervals: the interval says how far other items
would move the figure, ± how far other seeds would. The paper prints no intervals: those of its
figures follow from the number of pairs (Fisher's z, Wilson's), where it is known.

Compare each score with the best simple baseline on the same items. Nothing was chosen on these
items, except the baseline: it is the best of each line on these very items, which favours it. Our
rows in the table are those with the highest r on STS-B dev. A baseline is simple if it needs no
pretrained model: shared words, TF-IDF, BM25, weighted means of word vectors, linear maps of these.
P@N is on our held-out pairs, the paper's on other data. In context, an input is encoded with
the messages before it, which no baseline reads."""


@dataclass(frozen=True)
class Figure:
    """A metric of one data set, and the paper's, of its Reddit and its Reddit+SNLI model.

    `name` is that of our results, `of_baselines` that of the baselines', if it is another one.
    """

    label: str
    name: str
    key: str
    papers: tuple[Cell, Cell] = (Cell(), Cell())
    of_baselines: str = ""

    def of(self, one: Scored) -> Cell:
        """Return the figure of a system."""
        return one.cell(self.key)


def _papers(suffix: str) -> tuple[Cell, Cell]:
    reddit, nli = (
        papers_correlation(paper.TABLE_3[f"{model}{suffix}"]["test"], "test")
        for model in ("Reddit", "Reddit+SNLI")
    )
    return reddit, nli


def figures(systems: Sequence[System]) -> list[Figure]:
    """Return the main figures that a trained row has."""
    dan, accuracy = paper.TABLE_1["DAN"], paper.TABLE_2["Reddit+SNLI"]
    labelled = Cell(accuracy, from_size.of_proportion(accuracy, paper.SNLI_TEST_PAIRS))
    ranking = "response_ranking"
    in_context = ranking + IN_CONTEXT
    possible = [
        Figure("STS-B test, r", "sts-test", "pearson", _papers("")),
        Figure("STS-B test, r, tuned", "sts-test-tuned", "pearson", _papers(" tuned")),
        Figure("P@1 of 100", ranking, "p_at_1", (Cell(dan["p_at_1"]), Cell())),
        Figure("P@10 of 100", ranking, "p_at_10", (Cell(dan["p_at_10"]), Cell())),
        Figure("P@1 of 100, in context", in_context, "p_at_1", of_baselines=ranking),
        Figure("P@10 of 100, in context", in_context, "p_at_10", of_baselines=ranking),
        Figure("SNLI test, accuracy", "snli-test", "accuracy", (Cell(), labelled)),
    ]
    for name in names(systems, "cqa"):
        possible.append(Figure(f"{data_label(name)}, MAP", name, "map"))
    ours = [system for system in systems if system.kind == OURS]
    shown = []
    for one in possible:
        row = next(filter(None, (row_of(system, one) for system in ours)), None)
        shown += [_on(one, row.results[0])] if row else []
    return shown


def _on(figure: Figure, result: Result) -> Figure:
    """Return a figure of a result: on other data than the paper's, by their name alone."""
    if figure.name.startswith("cqa"):
        return figure
    if figure.name.startswith("response_ranking"):
        candidates = result.settings.get("candidates", paper.RANKING_CANDIDATES)
        name = figure.label.replace(f"of {paper.RANKING_CANDIDATES}", f"of {candidates}")
        comparable = candidates == paper.RANKING_CANDIDATES and not is_synthetic(result)
    else:
        comparable = is_papers(result)
        data, key = figure.label.split(", ", 1)
        name = f"{data if comparable else data_name(result.name)}, {key}"
    papers = figure.papers if comparable else (Cell(), Cell())
    return replace(figure, label=name, papers=papers)


def data_label(name: str) -> str:
    """Return `CQA 2016 dev` for the name of the organisers' file."""
    words = name.removeprefix("cqa-").replace("SemEval", "").split("-")
    return " ".join(["CQA", *(word for word in words if word not in ("Task3", "CQA", "QL"))])


def row_of(system: System, figure: Figure) -> Scored | None:
    """Return a system's runs on a figure's data; None where it was not scored."""
    found = [one for one in system.named(figure.name) if one.system.startswith("module")]
    one = Scored(system.label, system.kind, found)
    return one if found and figure.of(one).value is not None else None


def best_rows(systems: Sequence[System], outside: Mapping[str, str]) -> dict[str, System]:
    """Return the row with the highest r on STS-B dev of those from scratch, and of each other kind.

    `outside` says by a row's label what it has from outside the training data, such as `a teacher`;
    rows that have nothing are of the kind "", which comes first.
    """
    chosen = Figure("", *CHOSEN_ON)
    best: dict[str, System] = {}
    for system in systems:
        if system.kind != OURS or (one := row_of(system, chosen)) is None:
            continue
        group = outside.get(system.label, "")
        other = row_of(best[group], chosen) if group in best else None
        if other is None or _value(one, chosen) > _value(other, chosen):
            best[group] = system
    return {group: best[group] for group in sorted(best)}


def _value(one: Scored, figure: Figure) -> float:
    value = figure.of(one).value
    return -1.0 if value is None else value


def best_baseline(
    systems: Sequence[System], figure: Figure, *, pretrained: bool = False
) -> Scored | None:
    """Return the baseline with the highest figure, of the simple or of the pretrained ones."""
    name = figure.of_baselines or figure.name
    found = [
        one
        for one in scored(systems, name)
        if one.kind == BASELINE
        and one.pretrained == pretrained
        and one.column not in NOT_SIMPLE
        and figure.of(one).value is not None
        and one.results[0].name == name  # of its tuned one there is a figure of its own
    ]
    return max(found, key=lambda one: _value(one, figure), default=None)


def difference(one: Scored, baseline: Scored, figure: Figure) -> Cell:
    """Return by how much a row is above a baseline on the same items, as the mean of its runs.

    Without a number where the items were not the same, or are not stored.
    """
    try:
        found = [
            next(
                of
                for of in paired_test.compare(
                    baseline.results[0], run, system_a=baseline.column, metrics=[figure.key]
                )
            )
            for run in one.results
        ]
    except InputError:
        return Cell()
    return mean([of.difference for of in found], intervals=[of.interval for of in found])


def differences(systems: Sequence[System]) -> Table | None:
    """Return every trained row's differences from the best simple baseline of each figure."""
    shown = [(one, best_baseline(systems, one)) for one in figures(systems)]
    compared = [(figure, baseline) for figure, baseline in shown if baseline]
    rows = []
    for system in systems:
        if system.kind == OURS:
            cells = [
                difference(one, baseline, figure) if (one := row_of(system, figure)) else Cell()
                for figure, baseline in compared
            ]
            if any(cell.value is not None for cell in cells):
                rows.append(Row(system.label, cells, OURS))
    if not rows:
        return None
    against = [f"{figure.label}: {baseline.label}" for figure, baseline in compared]
    note = f"The baselines: {'; '.join(against)}. Above 0, the row is better."
    title = "Difference from the best simple baseline on the same items"
    return Table(title, [figure.label for figure, _ in compared], rows, [note])


def markdown(systems: Sequence[System], outside: Mapping[str, str]) -> list[str]:
    """Return the paragraphs that the page opens with; none without a row scored on STS-B dev."""
    best = best_rows(systems, outside)
    if not best:
        return []
    shown = figures(systems)
    known = [best_baseline(systems, one, pretrained=True) for one in shown]
    labels = [one.label for one in known if one]
    notes = [note for name, note in TRAINED_ON.items() if any(name in label for label in labels)]
    sentences = " ".join(_sentences(systems, best, shown))
    return [sentences, _table(systems, best, shown), *notes, RULE]


def _table(systems: Sequence[System], best: Mapping[str, System], shown: list[Figure]) -> str:
    known = [_named(best_baseline(systems, one, pretrained=True), one) for one in shown]
    headers = ["", "n", *(f"ours, {_kind(kind)}: {one.label}" for kind, one in best.items())]
    headers += ["best simple baseline", *(["pretrained"] if any(known) else [])]
    headers += ["paper, Reddit", "paper, Reddit+NLI"]
    body = []
    for figure, pretrained in zip(shown, known, strict=True):
        rows = [row_of(system, figure) for system in best.values()]
        baseline = best_baseline(systems, figure)
        n = next((one.results[0].n for one in (*rows, baseline) if one), 0)
        line = [figure.label, f"{n:,}"]
        line += [figure.of(one).whole_text if one else NONE for one in rows]
        line += [_named(baseline, figure) or NONE]
        line += [pretrained or NONE] if any(known) else []
        body.append([*line, *(cell.whole_text for cell in figure.papers)])
    aligned = ["left"] + ["right"] * (len(headers) - 1)
    return tabulate(body, headers, "pipe", disable_numparse=True, colalign=aligned)


def _named(one: Scored | None, figure: Figure) -> str:
    """Return a baseline's figure and its name; empty without one."""
    return f"{figure.of(one).whole_text}, {one.label}" if one else ""


def _sentences(
    systems: Sequence[System], best: Mapping[str, System], shown: list[Figure]
) -> Iterator[str]:
    """Yield what the table says: ours, against the best simple baseline, and a pretrained model."""
    chosen = Figure("", *CHOSEN_ON)
    on_dev = [(kind, one, row_of(one, chosen)) for kind, one in best.items()]
    highest = [
        f"`{one.label}` {_kind(kind)} ({chosen.of(dev).whole_text})"
        for kind, one, dev in on_dev
        if dev
    ]
    yield (
        f"The best rows on STS-B dev are {_listed(highest)}; the table shows their scores on data "
        "on which nothing was chosen."
    )
    system = next(iter(best.values()))
    verdicts: dict[str, list[str]] = {"ahead on": [], "behind on": [], "level on": []}
    not_compared: list[str] = []
    higher: dict[str, list[str]] = {}
    for figure in shown:
        one = row_of(system, figure)
        baseline = best_baseline(systems, figure)
        if one and baseline:
            found = difference(one, baseline, figure)
            (verdicts[standing(found)] if found.interval else not_compared).append(figure.label)
        known = best_baseline(systems, figure, pretrained=True)
        if one and known and _value(known, figure) > _value(one, figure):
            higher.setdefault(known.label, []).append(figure.label)
    parts = [f"{verdict} ({'; '.join(found)})" for verdict, found in verdicts.items() if found]
    yield (
        f"Compared with the best simple baseline on the same items, `{system.label}` is "
        f"{_listed(parts)}, where level means that the 95% interval of the difference includes 0."
        if parts
        else "No simple baseline was compared on the same items."
    )
    if not_compared:
        yield (
            "Not compared, because the items differ or are too few for an interval: "
            f"{'; '.join(not_compared)}."
        )
    above = [f"{name} ({'; '.join(found)})" for name, found in higher.items()]
    yield (
        f"Pretrained models that score higher than `{system.label}`: {_listed(above)}."
        if above
        else "No pretrained model that was scored here scores higher."
    )


def _listed(some: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))


def _kind(outside: str) -> str:
    return f"with {outside}" if outside else "from scratch"


def standing(found: Cell) -> str:
    """Return on which side of a baseline a difference with an interval puts a row."""
    if found.value is None or not found.interval or found.interval[0] <= 0 <= found.interval[1]:
        return "level on"
    return "ahead on" if found.value > 0 else "behind on"
