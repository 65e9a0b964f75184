"""Results small enough to compute by hand."""

import dataclasses

from evaluation.report.scores import OURS, Run
from evaluation.report.tables import SIZES
from evaluation.results.result import Result

MODULE = {"path": "runs/module", "fingerprint": "c0ffee"}
TEST_2017 = "cqa-SemEval2017-Task3-CQA-QL-test"


def result(task, name, *, n=4, system="module", **metrics):
    return Result(
        task=task,
        name=name,
        system=system,
        metrics=metrics,
        n=n,
        data={"file": f"{name}.csv", "sha256": "ab" * 32},
        module=None if system == "search_engine" else MODULE,
        command=f"python -m evaluation {task}",
    )


def sts(name="sts-test", *, r=0.5, text="a dog", **fields):
    """Four pairs whose scores follow their labels, with an interval, and of the official genres."""
    found = result("sts", name, pearson=r, spearman=r)
    items = [
        {"gold": g, "score": -s, "genre": "main-news", "sentence1": f"{text} {g}", "sentence2": "c"}
        for g, s in ((0.0, 1.5), (1.0, 1.2), (4.0, 0.4), (5.0, 0.2))
    ]
    given = {
        "intervals": {"pearson": [r - 0.1, r + 0.1]},
        "baselines": {"word_overlap": {"pearson": 0.2468}},
        "items": items,
    }
    return dataclasses.replace(found, **given | fields)


def official(found):
    """The same result as if it were on the STS Benchmark's own pairs."""
    genres = SIZES[found.name]
    groups = {genre: {"n": n, "metrics": {"pearson": 0.25}} for genre, n in genres.items()}
    return dataclasses.replace(found, n=sum(genres.values()), groups=groups)


def ranking(*ranks, pretrained=False, **fields):
    """Ranks of pairs in blocks of two."""
    share = sum(rank == 1 for rank in ranks) / len(ranks)
    items = [
        {"rank": rank, "block": row // 2, "input_id": str(row), "response_id": str(row)}
        for row, rank in enumerate(ranks)
    ]
    found = result("response_ranking", "response_ranking", n=len(ranks), p_at_1=share)
    given = {
        "intervals": {"p_at_1": [0.25, 0.75]},
        "items": items,
        "data": {"sha256": "cd" * 32, "origin": "Reddit"},
        "module": MODULE | ({"pretrained": True} if pretrained else {}),
    }
    return dataclasses.replace(found, **given | fields)


def run(*results, system="this module", kind=OURS, seed=None):
    return Run(system, kind, {found.name: found for found in results}, seed)


def rows_of(table):
    """The numbers of the cells by block, row and header."""
    return {
        (block, row): {header: table.words(cell)[0] for header, cell in cells.items()}
        for block, _, rows in table.blocks()
        for (row, _), cells in rows.items()
    }
