"""Table 2 of Prijatelj et al. 2017 with our rows in it, as Markdown."""

import os
from pathlib import Path

from tabulate import tabulate

from model.sts_regression.data.folds import RANDOM, SENTENCES

_NONE = "-"


def markdown(results: list[dict]) -> str:
    """A table for each way of making folds, and what grouping changes where both are there."""
    ways = list(dict.fromkeys(result["settings"]["folds_by"] for result in results))
    parts = [_table(way, [r for r in results if r["settings"]["folds_by"] == way]) for way in ways]
    if {RANDOM, SENTENCES} <= set(ways):
        parts.append(_grouping(results))
    return "\n\n".join(parts) + "\n"


def write(results: list[dict], path: Path) -> str:
    """Writes the tables aside, renames them, and returns them."""
    text = markdown(results)
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)
    return text


def _table(way: str, results: list[dict]) -> str:
    # A row of which every fold diverged names no test.
    measured = dict.fromkeys(name for result in results for name in result["metrics"])
    tests = [name for name in measured if name.startswith("pearson_")]
    tests.remove("pearson_in_sample")
    names = ["pearson", "pearson_in_sample", "mse", "mse_in_sample", *tests]
    headers = ["model", "Pearson r, 95%", "in sample", "MSE", "MSE in sample"]
    headers += [f"{name.removeprefix('pearson_')}, 95%" for name in tests]
    headers += ["paper", "paper, in sample", "seconds"]
    rows = []
    for result in sorted(results, key=_rank):
        cells = [_figure(result, name, bounds=name in ("pearson", *tests)) for name in names]
        paper = result["baselines"].get("paper", {})
        cells += [_plain(paper.get(name)) for name in names[:2]]
        label = result["settings"]["label"] + _lost(result)
        rows.append([label, *cells, f"{result['seconds']:,.0f}"])
    body = tabulate(rows, headers, tablefmt="github", disable_numparse=True)
    return f"{_title(way, results)}\n\n{body}\n\n{_about(results)}"


def _rank(result: dict) -> float:
    """The paper's order is that of its own scores; what it lacks comes last."""
    return -result["baselines"].get("paper", {}).get("pearson", -1.0)


def _title(way: str, results: list[dict]) -> str:
    settings, counts = results[0]["settings"], results[0]["counts"]
    held_out = sum(fold["pairs_held_out"] for fold in results[0]["items"])
    shared = counts["pairs_held_out_with_a_sentence_that_trains"]
    folds = f"{settings['folds']} folds, {way}" if settings["folds"] > 1 else "its own split"
    title = (
        f"**{results[0]['n']:,} pairs, {folds}.** {shared:,} of the {held_out:,} pairs held out "
        "have a sentence that also trains"
    )
    tests = "".join(f"; of {name}, {n:,} of {of:,}" for name, n, of in shared_tests(results[0]))
    return f"{title}{tests}."


def shared_tests(result: dict) -> list[tuple[str, int, int]]:
    """Of each test: its name, its pairs with a sentence of the corpus, and all its pairs."""
    tests = result["data"].get("tests", {})
    return [
        (name, test["pairs_with_a_sentence_that_trains"], test["pairs"])
        for name, test in tests.items()
    ]


def _about(results: list[dict]) -> str:
    """What the reader must know of the settings."""
    trained = next((r for r in results if "epochs" in r["settings"]), None)
    if trained is None:
        return ""
    settings, counts = trained["settings"], trained["counts"]
    return (
        f"Word vectors: {trained['data']['word_vectors']}, {trained['data']['word_dim']} numbers, "
        f"{counts['words_without_vector']:,} of {counts['words']:,} words without one. "
        f"Units: {settings['units'] or 'as the vectors'}; "
        f"epochs: {settings['epoch_share']:g} of the paper's; learning rate "
        f"{settings['learning_rate']:g}; gates: {settings['gates']}; gradients cut off at: "
        f"{settings['clip_norm'] or 'nothing'}; seed {settings['seed']}."
    )


def _grouping(results: list[dict]) -> str:
    """What a row loses when no sentence is on both sides."""
    found: dict[str, dict[str, dict]] = {}
    for result in sorted(results, key=_rank):
        found.setdefault(result["settings"]["label"], {})[result["settings"]["folds_by"]] = result
    rows = []
    for label, by_way in found.items():
        scores = [by_way.get(way, {}).get("metrics", {}).get("pearson") for way in _BOTH]
        if None not in scores:
            rows.append([label, *map(_plain, scores), f"{scores[1] - scores[0]:+.4f}"])
    headers = ["Pearson r out of sample", *_BOTH, "change"]
    body = tabulate(rows, headers, tablefmt="github", disable_numparse=True)
    return (
        f"**What grouping does.** `{SENTENCES}`: a sentence never stands on both sides.\n\n{body}"
    )


_BOTH = (RANDOM, SENTENCES)


def _figure(result: dict, name: str, *, bounds: bool) -> str:
    text = _plain(result["metrics"].get(name))
    if not bounds or name not in result["intervals"]:
        return text
    low, high = result["intervals"][name]
    return f"{text} [{low:.3f}, {high:.3f}]"


def _plain(value: float | None) -> str:
    return _NONE if value is None else f"{value:.4f}"


def _lost(result: dict) -> str:
    """Which folds keep the row from having a mean."""
    folds, counts = result["settings"]["folds"], result["counts"]
    ways = {
        "folds_that_diverged": "diverged",
        "folds_without_a_correlation": "score all pairs alike",
    }
    said = [f"{counts[name]} of {folds} folds {way}" for name, way in ways.items() if counts[name]]
    return f" ({', '.join(said)})" if said else ""
