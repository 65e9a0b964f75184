"""Table 2 of Prijatelj et al. 2017 with our rows in it, as Markdown."""

from tabulate import tabulate

from model.sts_regression.choices import FRESH, RANDOM, SENTENCES
from model.sts_regression.results import readings

_OUT, _IN = "pearson", "pearson_in_sample"
_LOST = {
    "folds_that_diverged": "diverged",
    "folds_without_a_correlation": "score all pairs alike",
}


def markdown(results: list[dict]) -> str:
    """A table for each way of making and beginning folds, and comparisons of two of a kind.

    Args:
      results: what `results.read` gives.
    """
    results = readings.in_order(results)
    by_way: dict[tuple[str, str], list[dict]] = {}
    for result in results:
        settings = result["settings"]
        way = settings["folds_by"], settings["weights_between_folds"]
        by_way.setdefault(way, []).append(result)
    parts = [_table(way, some) for way, some in sorted(by_way.items())]
    if {(RANDOM, FRESH), (SENTENCES, FRESH)} <= by_way.keys():
        parts.append(_comparison(by_way[RANDOM, FRESH], by_way[SENTENCES, FRESH]))
    parts += filter(None, (readings.markdown(results, way) for way in (RANDOM, SENTENCES)))
    return "\n\n".join(parts) + "\n"


def _table(way: tuple[str, str], results: list[dict]) -> str:
    # A row of which every fold diverged names no test.
    measured = dict.fromkeys(name for result in results for name in result["metrics"])
    tests = [name for name in measured if name.startswith("pearson_") and name != _IN]
    names = [_OUT, _IN, "mse", "mse_in_sample", *tests]
    headers = ["model", "Pearson r, 95%", "in sample", "MSE", "MSE in sample"]
    headers += [f"{name.removeprefix('pearson_')}, 95%" for name in tests]
    headers += ["paper", "paper, in sample", "seconds"]
    rows = []
    for result in results:
        paper = result["baselines"].get("paper", {})
        intervals = {name: result["intervals"].get(name) for name in (_OUT, *tests)}
        rows.append(
            [
                result["settings"]["label"] + _lost(result),
                *[_figure(result["metrics"].get(name), intervals.get(name)) for name in names],
                *[_figure(paper.get(name)) for name in (_OUT, _IN)],
                f"{result['seconds']:,.0f}",
            ]
        )
    return f"{_title(way, results[0])}\n\n{_body(rows, headers)}\n\n{_about(results)}"


def _title(way: tuple[str, str], result: dict) -> str:
    """How many pairs there are, and how many of them leak."""
    folds, counts = result["settings"]["folds"], result["counts"]
    held_out = sum(fold["pairs_held_out"] for fold in result["items"])
    tests = "".join(
        f"; of {name}, {test['pairs_with_a_sentence_that_trains']:,} of {test['pairs']:,}"
        for name, test in result["data"].get("tests", {}).items()
    )
    folds_by, weights = way
    made = f"{folds} folds, {folds_by}, {weights} weights" if folds > 1 else "its own split"
    return (
        f"**{result['n']:,} pairs, {made}.** "
        f"{counts['pairs_held_out_with_a_sentence_that_trains']:,} of the {held_out:,} pairs held "
        f"out share a sentence with a training pair{tests}."
    )


def _about(results: list[dict]) -> str:
    """The settings that the scores depend on."""
    trained = next((r for r in results if "epochs" in r["settings"]), None)
    if trained is None:
        return ""
    settings, counts, data = trained["settings"], trained["counts"], trained["data"]
    return (
        f"Word vectors: {data['word_vectors']}, {data['word_dim']} numbers, "
        f"{counts['words_without_vector']:,} of {counts['words']:,} words without one. "
        f"Units: {settings['units'] or 'as the vectors'}; "
        f"epochs: {settings['epoch_share']:g} of the paper's; learning rate "
        f"{settings['learning_rate']:g}; gates: {settings['gates']}; "
        f"padding: {settings['padding']}; gradient norm clipped at: "
        f"{settings['clip_norm'] or 'nothing'}; seed {settings['seed']}."
    )


def _comparison(of_random: list[dict], of_sentences: list[dict]) -> str:
    """Scores of the rows with random and with grouped folds."""
    random, grouped = (
        {result["settings"]["label"]: result["metrics"].get(_OUT) for result in results}
        for results in (of_random, of_sentences)
    )
    rows = [
        [label, _figure(before), _figure(after), f"{after - before:+.4f}"]
        for label, before in random.items()
        if before is not None and (after := grouped.get(label)) is not None
    ]
    return (
        f"**What grouping does.** `{SENTENCES}`: no sentence both trains and is held out.\n\n"
        + _body(rows, ["Pearson r out of sample", RANDOM, SENTENCES, "change"])
    )


def _body(rows: list[list[str]], headers: list[str]) -> str:
    return tabulate(rows, headers, tablefmt="github", disable_numparse=True)


def _figure(value: float | None, interval: list[float] | None = None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def _lost(result: dict) -> str:
    """The folds for which the row has no mean."""
    folds, counts = result["settings"]["folds"], result["counts"]
    said = [
        f"{counts[name]} of {folds} folds {what}" for name, what in _LOST.items() if counts[name]
    ]
    return f" ({', '.join(said)})" if said else ""
