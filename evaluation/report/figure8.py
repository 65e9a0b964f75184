"""Figure 8: Pearson's r by the share of NLI data, as SVG."""

from matplotlib.figure import Figure

from evaluation.report import svg
from evaluation.results.result import Result

# Two hues that differ in lightness too; dashes tell the captions without colour.
LINES = (
    ("test", "captions", "#c2571a", "--", "o"),
    ("dev", "captions", "#3b82c4", "--", "s"),
    ("dev", "pearson", "#3b82c4", "-", "s"),
    ("test", "pearson", "#c2571a", "-", "o"),
)
NAMES = {"pearson": "all", "captions": "captions"}
INTERVALS = {"pearson": "interval", "captions": "captions_interval"}


def element(result: Result) -> str:
    """Return the figure as an element of an HTML page."""
    return svg.element(lambda: _figure(result), salt="figure8")


def document(result: Result) -> str:
    """Return the figure as a file of its own, dark on white."""
    return svg.document(lambda: _figure(result), salt="figure8")


def _figure(result: Result) -> Figure:
    """Draw a line each for dev and test, all pairs and captions, with 95% intervals as bars."""
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    axes = figure.add_subplot()
    for split, kind, color, style, marker in LINES:
        points = [
            (100 * item["share"], item[split][kind], item[split][INTERVALS[kind]])
            for item in result.items
            if item[split][kind] is not None
        ]
        if not points:
            continue
        shares, values, intervals = zip(*points, strict=True)
        label = f"{split}, {NAMES[kind]}"
        axes.plot(shares, values, style, color=color, marker=marker, markersize=4.5, label=label)
        for share, interval in zip(shares, intervals, strict=True):
            if interval:
                axes.plot([share, share], interval, color=color, linewidth=1, alpha=0.45)
    axes.set_xlabel("share of the NLI training data, %")
    axes.set_ylabel("Pearson's r")
    axes.set_xticks(range(0, 101, 10))
    axes.grid(axis="y", linewidth=0.5, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.lines:
        figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9.5)
    return figure
