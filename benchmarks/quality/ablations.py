"""The page of ablations, from the models that the workflow trained: `make ablations` calls it.

    python -m benchmarks.quality.ablations --runs runs/reproduce --output ablations.md

Reads the last validation of each ablation in `rows.yaml`. Three seeds of the unchanged row show
which differences mean something.
"""

from pathlib import Path

import jinja2
from tabulate import tabulate

from benchmarks import runs
from benchmarks.quality.rows import Ablation, Table
from common import statistics
from common.files import outputs, write_text

STS = "sts_dev_pearson"
NLI_BATCH = 100
"""Dev pairs are validated in whole batches."""
OFFICIAL_PAIRS = 1500
"""Of STS-B dev."""
TEMPLATE = Path(__file__).with_name("ablations.md.jinja")


def main() -> None:
    """Writes the page."""
    given = runs.given(__doc__, "runs", "output")
    items, tables = sizes(Path(given.runs)), []
    for ablation in Table().ablations.values():
        found = {
            change: runs.last(Path(given.runs, "models", run.name, "validation"))
            for change, run in ablation.runs.items()
        }
        tables.append((ablation.title, table(ablation, found, items)))
    page = jinja2.Template(TEMPLATE.read_text(), trim_blocks=True, keep_trailing_newline=True)
    write_text(Path(given.output), page.render(about=runs.machine(), tables=tables))


def sizes(runs_folder: Path) -> dict[str, int]:
    """How many items each figure of a validation is over, by the data sets' manifests."""
    pairs, nli = (outputs(str(runs_folder / name)) for name in ("pairs", "nli/dev"))
    validation = sum(of["records"] for name, of in pairs.items() if name.startswith("validation-"))
    labelled = sum(of["records"] for name, of in nli.items() if name.startswith("nli-"))
    precisions = dict.fromkeys(("p_at_1", "p_at_10"), validation)
    return precisions | {"nli_accuracy": labelled - labelled % NLI_BATCH, STS: OFFICIAL_PAIRS}


def table(ablation: Ablation, found: dict[str, dict[str, float]], items: dict[str, int]) -> str:
    """The rows as Markdown, each with its change from the mean of the unchanged row's seeds."""
    base = next(iter(ablation.runs.values())).row
    seeds = [figures for change, figures in found.items() if ablation.runs[change].row is base]
    body = []
    for change, figures in found.items():
        changes = {key: figures[key] - sum(o[key] for o in seeds) / len(seeds) for key in figures}
        cells = (f"{figures[key]:.3f} ({changes[key]:+.3f})" for key in ablation.figures)
        body.append([change, *cells])
    ends = ["95% interval of the first row"]
    for key in ablation.figures:
        of = statistics.fisher_interval if key == STS else statistics.wilson_interval
        low, high = of(next(iter(found.values()))[key], items[key])
        ends.append(f"[{low:.3f}, {high:.3f}]")
    aligned = ["left"] + ["right"] * len(ablation.figures)
    headers = ["", *ablation.figures.values()]
    return tabulate([*body, ends], headers, "pipe", disable_numparse=True, colalign=aligned)


if __name__ == "__main__":
    main()
