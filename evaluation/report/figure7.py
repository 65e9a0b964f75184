"""Figure 7: predicted similarity against people's, as SVG for a page in light or dark."""

from matplotlib.figure import Figure

from evaluation.report import svg
from evaluation.results.result import Result

POINTS = "#3b82c4"


def scatter(result: Result) -> str:
    """Return one STS result's items as an SVG element: gold in [0, 5], and the score."""
    return svg.element(lambda: _figure(result), salt="figure7")


def _figure(result: Result) -> Figure:
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    axes = figure.add_subplot()
    gold = [item["gold"] for item in result.items]
    score = [item["score"] for item in result.items]
    axes.scatter(gold, score, s=14, color=POINTS, alpha=0.6, linewidths=0)
    axes.set_xlabel("gold similarity, 0 to 5")
    # Other scores than the angle are of the module's own making.
    angles = max(score, default=0.0) <= 0.0
    axes.set_ylabel("score, -arccos(cosine)" if angles else "score")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
