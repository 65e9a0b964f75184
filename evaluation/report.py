"""The report: one self-contained HTML page made of nothing but the result files."""

from pathlib import Path

import jinja2
from markupsafe import Markup

from evaluation import comparison, examples, figure7, scores
from evaluation.files import write_whole
from evaluation.result import Result

TEMPLATE = Path(__file__).with_name("report.html.jinja")


def write(results: list[Result], path: Path) -> None:
    """Write the page."""
    write_whole(path, render(results))


def render(results: list[Result]) -> str:
    """Return the page. Everything but our own SVG is escaped: the texts are other people's."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["figure"] = scores.figure
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    shown = _shown(results)
    return template.render(
        results=results,
        modules=_modules(results),
        headline=[_headline(result) for result in results],
        tables=comparison.tables(results),
        shown=shown,
        scatter=Markup(figure7.scatter(shown)) if shown else None,
        examples=examples.examples(shown) if shown else [],
    )


def _shown(results: list[Result]) -> Result | None:
    """Return the STS result for figure 7 and table 5: the test set if there, else another."""
    sts = {result.name: result for result in results if result.task == "sts"}
    return sts.get("sts-test") or sts.get("sts-dev") or next(iter(sts.values()), None)


def _modules(results: list[Result]) -> list[str]:
    """Return the fingerprints of the modules scored: one, unless results were mixed."""
    return sorted({result.module["fingerprint"] for result in results if result.module})


def _headline(result: Result) -> dict:
    """Return one result's row group: its figures, each beside the baselines'."""
    (scored, ours), *baselines = scores.systems(result)
    return {
        "name": result.name,
        "n": result.n,
        "scored": scored,
        "is_module": result.system == "module",
        "figures": [
            {
                "label": scores.LABELS.get(key, key),
                "ours": value,
                "beside": [(label, metrics.get(key)) for label, metrics in baselines],
            }
            for key, value in ours.items()
        ],
    }
