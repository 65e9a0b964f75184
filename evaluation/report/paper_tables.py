"""Tables 1 to 4 and 6 of the paper with a row for every system, and table 5's examples.

The paper's own rows are there where the data are the paper's: the official files of the STS
Benchmark, SNLI and SemEval. In table 1 they are there for other pairs from Reddit, with a note.
"""

from collections.abc import Callable, Mapping, Sequence

from evaluation.data import overlap, sts_benchmark
from evaluation.data.origin import REDDIT, SYNTHETIC
from evaluation.data.sts_benchmark import OFFICIAL_COUNTS
from evaluation.metrics import from_size
from evaluation.report import paper
from evaluation.report.cells import OURS, PAPER, Cell, Row, Table, mean
from evaluation.report.systems import Scored, System, names, scored
from evaluation.results.result import Result, data_name
from evaluation.results.text import label

SPLITS = ("dev", "test")
TRAINED_ON = {
    "all-MiniLM-L6-v2": "The training data of all-MiniLM-L6-v2 include Reddit comments of 2015 to "
    "2018 (its model card): it has read the kind of text that is ranked here, and passes that on "
    "to a model that learns from it as a teacher."
}
"""What must be known of a pretrained model beside its scores in response ranking."""
PAPERS_INTERVALS = (
    "The paper prints no intervals: those of its rows are computed from the figure and the number "
    "of pairs (Fisher's z for r, Wilson's for accuracy)."
)
NOT_THE_PAPERS_PAIRS = (
    "The paper's test set is a tenth of 600 million Reddit pairs, which nobody else has: compare "
    "with care."
)
NOT_ON_THE_PAPERS_TEST_SET = (
    "The paper's rows are on the test set of SemEval-2017, and no row of ours is: without the text "
    "of its questions, only the search engine's order and the ceiling can be scored there. With "
    "SemEval2017-Task3-CQA-QL-test.xml, which has text and labels, in the folder of the data, the "
    "same commands score every row."
)


def tables(systems: Sequence[System]) -> list[Table]:
    """Return every table of the paper that these systems have a row for, but for table 5's.

    In the order in which a newcomer asks: similarity, ranking, question answering, NLI.
    """
    made = []
    if any(list(scored(systems, f"sts-{split}")) for split in SPLITS):
        made += [_table_3(systems), _table_4(systems)]
    if other := _other_sts(systems):
        columns = {name.removeprefix("sts-"): name for name in other}
        rows = _joined(systems, columns, lambda one: [one.cell("pearson")])
        title = "Other similarity data: Pearson's r, not in the paper"
        notes = _synthetic_notes(_first(systems, other))
        made.append(Table(title, list(columns), rows, notes))
    ranking = dict.fromkeys(map(data_name, names(systems, "response_ranking")))
    made += [_table_1(systems, name) for name in ranking]
    if cqa := names(systems, "cqa"):
        made.append(_table_6(systems, cqa))
    if snli := names(systems, "snli"):
        made.append(_table_2(systems, snli))
    return made


def is_papers(result: Result) -> bool:
    """Say whether a result is on data of the paper, by their name and size, for STS by genre."""
    name = data_name(result.name)
    if is_synthetic(result) or name not in paper.SIZES:
        return False
    return not _difference(result) if name in OFFICIAL_COUNTS else result.n == paper.SIZES[name]


def _difference(result: Result) -> str:
    """Return how pairs differ from those of the STS Benchmark; empty if they do not."""
    name = data_name(result.name)
    counts = {genre: of["n"] for genre, of in result.groups.items()}
    if sum(counts.values()) != result.n:  # it does not tell the genre of every pair
        counts = OFFICIAL_COUNTS[name] if result.n == paper.SIZES[name] else {"": result.n}
    return sts_benchmark.difference(name, counts)


def is_synthetic(result: Result) -> bool:
    """Say whether a result is on generated data."""
    return result.data.get("origin") == SYNTHETIC


def _first(systems: Sequence[System], found: Sequence[str]) -> list[Result]:
    """Return the first result on each of these data that are scored."""
    on_each = (next(iter(scored(systems, name)), None) for name in found)
    return [one.results[0] for one in on_each if one]


def _synthetic_notes(results: Sequence[Result]) -> list[str]:
    """Return a note that names the synthetic data, if there are any."""
    found = [result.name for result in results if is_synthetic(result)]
    return [f"Synthetic sample: {', '.join(found)}."] if found else []


def _joined(
    systems: Sequence[System],
    columns: Mapping[str, str],
    cells: Callable[[Scored], list[Cell]],
    *,
    baselines: bool = True,
) -> list[Row]:
    """Return a row for each system on any of several data sets, with its cells on each.

    `columns` maps a header to the name of a result; `baselines` says whether those count that the
    results hold.
    """
    empty = len(cells(Scored("", "", []))) * [Cell()]
    rows: dict[tuple[str, str], Row] = {}
    for position, name in enumerate(columns.values()):
        for one in scored(systems, name):
            if baselines or one.column is None:
                new = Row(one.label, empty * len(columns), one.kind)
                row = rows.setdefault((one.label, one.kind), new)
                start = position * len(empty)
                row.cells[start : start + len(empty)] = cells(one)
    return list(rows.values())


def _table_1(systems: Sequence[System], name: str) -> Table:
    """Response prediction."""
    how: dict = {"percent": True, "decimals": 1}
    found = list(scored(systems, name))
    result = found[0].results[0]
    candidates = result.settings.get("candidates", paper.RANKING_CANDIDATES)
    comparable = result.data.get("origin") == REDDIT and candidates == paper.RANKING_CANDIDATES
    papers = paper.TABLE_1 if comparable else {}
    known = {key for of in papers.values() for key in of}
    keys = sorted(known | result.metrics.keys(), key=lambda key: int(key.split("_")[-1]))
    rows = [Row(one.label, [one.cell(key, **how) for key in keys], one.kind) for one in found]
    rows += [
        Row(name, [Cell(of.get(key), **how) for key in keys], PAPER) for name, of in papers.items()
    ]
    notes = [f"{result.n:,} pairs, the true response among {candidates}."]
    if papers:
        notes.append(NOT_THE_PAPERS_PAIRS)
    notes += [TRAINED_ON[name] for name in TRAINED_ON if any(name in one.label for one in found)]
    notes += _synthetic_notes([result])
    title = "Table 1: finding the true response, precision at N (%)"
    return Table(title, [label(key) for key in keys], rows, notes)


def _table_2(systems: Sequence[System], found: list[str]) -> Table:
    """Natural language inference."""
    how: dict = {"percent": True, "decimals": 1}
    columns = {name.removeprefix("snli-"): name for name in found}
    rows = _joined(systems, columns, lambda one: [one.cell("accuracy", **how)])
    results = _first(systems, found)
    papers = any(map(is_papers, results))
    for name, value in paper.TABLE_2.items() if papers else ():
        interval = from_size.of_proportion(value, paper.SNLI_TEST_PAIRS)
        whole = Cell(value, interval, **how)
        cells = [whole if one == "snli-test" else Cell() for one in found]
        rows.append(Row(name, cells, PAPER))
    sizes = ", ".join(f"{result.name}: {result.n:,} pairs" for result in results)
    notes = [f"{sizes}.", _labels_note(systems, found), *_synthetic_notes(results)]
    if papers:
        notes += ["The paper trained on 550,152 pairs.", PAPERS_INTERVALS]
    return Table("Table 2: natural language inference, accuracy (%)", list(columns), rows, notes)


def _labels_note(systems: Sequence[System], found: list[str]) -> str:
    """Return a note on where the labels come from; results note whether they are a module's own."""
    own = [
        system.label
        for system in systems
        if any(
            "the module's own" in n for name in found for r in system.named(name) for n in r.notes
        )
    ]
    rest = "come from a classifier that is trained on the embeddings"
    if not own:
        return f"Labels {rest}."
    return f"Labels of {', '.join(own)} are the module's own; those of other rows {rest}."


def _sts_notes(results: Sequence[Result]) -> list[str]:
    """Return how data differ from the STS Benchmark, and where the paper's intervals are from."""
    notes = _synthetic_notes(results)
    for result in results:
        if not is_papers(result) and not is_synthetic(result):
            notes.append(
                f"{_difference(result)}: these are other data, without the paper's figures."
            )
    return notes + ([PAPERS_INTERVALS] if any(map(is_papers, results)) else [])


def _on_sts(systems: Sequence[System]) -> tuple[list[Result], list[str]]:
    """Return the first result on each split, and the splits that are the paper's."""
    results = _first(systems, [f"sts-{split}" for split in SPLITS])
    official = {data_name(result.name) for result in results if is_papers(result)}
    return results, [split for split in SPLITS if f"sts-{split}" in official]


def _table_3(systems: Sequence[System]) -> Table:
    """STS Benchmark, overall."""
    columns = {split: f"sts-{split}" for split in SPLITS}
    rows = _joined(systems, columns, lambda one: [one.cell("pearson")])
    results, official = _on_sts(systems)
    for name, of in paper.TABLE_3.items() if official else ():
        cells = [
            papers_correlation(of[split], split) if split in official else Cell()
            for split in SPLITS
        ]
        rows.append(Row(name, cells, PAPER))
    title = f"Table 3: Pearson's r {'on the STS Benchmark' if official else 'of similarity'}"
    return Table(title, list(columns), rows, _sts_notes(results))


def _table_4(systems: Sequence[System]) -> Table:
    """STS Benchmark, by genre."""
    columns = {split: f"sts-{split}" for split in SPLITS}
    rows = _joined(systems, columns, genres, baselines=False)
    _, official = _on_sts(systems)
    for name, of in paper.TABLE_4.items() if official else ():
        cells = [
            papers_correlation(r, split, genre=genre) if split in official else Cell()
            for split in SPLITS
            for genre, r in zip(paper.GENRES, of[split], strict=True)
        ]
        rows.append(Row(name, cells, PAPER))
    headers = [f"{split} {genre}" for split in SPLITS for genre in paper.GENRES]
    notes = [PAPERS_INTERVALS] if official else []
    return Table("Table 4: Pearson's r by genre", headers, rows, notes)


def papers_correlation(r: float, split: str, *, genre: str = "all") -> Cell:
    """Return a correlation of the paper's on the STS Benchmark, with the interval of its size."""
    sizes = OFFICIAL_COUNTS[f"sts-{split}"]
    n = sum(sizes.values()) if genre == "all" else sizes[f"main-{genre}"]
    return Cell(r, from_size.of_correlation(r, n))


def genres(one: Scored) -> list[Cell]:
    """Return Pearson's r over all and by genre, which the files call main-captions and so on."""
    groups = [None, *(f"main-{genre}" for genre in paper.GENRES[1:])]
    return [one.cell("pearson", group=group) for group in groups]


def _other_sts(systems: Sequence[System]) -> list[str]:
    """Return the names of similarity data that the paper does not have."""
    known = {f"sts-{split}" for split in SPLITS}
    return [name for name in names(systems, "sts") if name not in known and name == data_name(name)]


def _table_6(systems: Sequence[System], found: list[str]) -> Table:
    """Community question answering."""
    keys = ("map", "avg_rec", "mrr", "precision", "recall", "f1", "accuracy")
    how: dict = {"percent": True, "decimals": 2}
    rows = [
        Row(one.label, [one.cell(key, **how) for key in keys], one.kind, name.removeprefix("cqa-"))
        for name in found
        for one in scored(systems, name)
    ]
    results = [result for system in systems for name in found for result in system.named(name)]
    official = [result for result in results if is_papers(result)]
    for name, value in paper.TABLE_6.items() if official else ():
        cells = [Cell(value if key == "map" else None, **how) for key in keys]
        rows.append(Row(name, cells, PAPER, "SemEval-2017 test, in the paper"))
    notes = [
        "Queries without a relevant candidate count as 0, which sets the highest MAP a file allows "
        "(the ceiling): scores on different files cannot be compared.",
        *_synthetic_notes(_first(systems, found)),
    ]
    if official and not any(result.system == "module" for result in official):
        notes.append(NOT_ON_THE_PAPERS_TEST_SET)
    title = "Table 6: community question answering, subtask B (%)"
    return Table(title, [label(key) for key in keys], rows, notes)


def table_5(systems: Sequence[System]) -> Table | None:
    """Return the scores of the paper's own examples, which are in STS-B's test set."""
    scores = {one.label: _by_texts(one.named("sts-test")) for one in systems if one.kind == OURS}
    known = {name: of for name, of in scores.items() if of}
    rows = []
    for kind, papers, gold, *texts in paper.TABLE_5:
        found = [of.get(tuple(map(overlap.normalize, texts)), []) for of in known.values()]
        if any(found):
            cells = [Cell(gold, decimals=1), Cell(papers, decimals=2), *map(mean, found)]
            rows.append(Row(f"{kind}: {texts[0]} / {texts[1]}", cells, OURS))
    if not rows:
        return None
    title = "Table 5: the paper's examples, scored by -arccos(cosine)"
    note = "Single pairs have no interval."
    return Table(title, ["gold score", "the paper", *known], rows, [note])


def _by_texts(results: Sequence[Result]) -> dict[tuple[str, ...], list[float]]:
    """Return the score of each run by the pair's normalized texts."""
    found: dict[tuple[str, ...], list[float]] = {}
    for result in results:
        for item in result.items:
            texts = tuple(overlap.normalize(item[key]) for key in ("sentence1", "sentence2"))
            found.setdefault(texts, []).append(item["score"])
    return found
