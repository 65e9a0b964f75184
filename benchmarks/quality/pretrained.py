"""Puts the small module into the repository: `make pretrained` calls it.

    python -m benchmarks.quality.pretrained --runs runs/reproduce --output pretrained

Adds the scores to the model cards of the rows `small` and `teacher_nli`, the full module. Writes
the small one to `conversations-small/`, the checksums of its files to `SHA256SUMS` and a page that
compares the two with other people's pretrained encoders to `README.md`. A module that is too large,
or scores too far below the full one, is refused.
"""

import json
import shutil
from pathlib import Path

import jinja2
from tabulate import tabulate

from benchmarks import runs
from common.command_line import errors_in_one_line
from common.errors import InputError
from common.files import aside
from common.text_files import sha256
from export import add_scores
from export.card import identity, model_card

SMALL, FULL = "small", "teacher_nli"
NAME = "conversations-small"
MOST_BYTES = 20_000_000
MOST_BELOW = 0.01
"""Pearson's r on STS-B dev, below that of the full module. No test set decides anything."""
SHOWN = {
    ("sts-test", "pearson"): "STS Benchmark, test: Pearson's r",
    ("sts-dev", "pearson"): "STS Benchmark, dev: Pearson's r",
    ("sts-sts2016", "mean_of_sets"): "STS 2016, mean of five sets",
    ("sts-sts2017_track5", "pearson"): "STS 2017, track 5",
    ("response_ranking", "p_at_1"): "replies of a month that ours did not see: P@1 of 100",
    ("response_ranking", "p_at_10"): "the same: P@10 of 100",
    ("response_ranking-irc", "p_at_1"): "replies of Ubuntu IRC: P@1 of 100",
    ("snli-test", "accuracy"): "SNLI, test: accuracy",
    ("cqa-SemEval2016-Task3-CQA-QL-dev", "map"): "SemEval 2016 task 3, dev: MAP",
}
"""(name of the result, metric) -> what the page calls it, where DATA has its files."""
TEMPLATE = Path(__file__).with_name("pretrained.md.jinja")


def main() -> None:
    """Writes the folder; exits with one line and status 1 if the module is not good enough."""
    given = runs.given(__doc__, "runs", "output")
    with errors_in_one_line():
        publish(Path(given.runs), Path(given.output))


def publish(work: Path, output: Path) -> None:
    """Writes the module, its checksums and its page, of what `make reproduce` left in `work`.

    A small module that is too large or too far below the full one is an InputError.
    """
    modules = {row: work / "modules" / f"{row}-0" for row in (SMALL, FULL)}
    found = {}
    for row, module in modules.items():
        add_scores(module, work / "results" / f"{row}-0")
        found[row] = {one["name"]: one for one in model_card.scores(module)}
    sizes = {row: model_card.size(of) for row, of in modules.items()}
    if sizes[SMALL] > MOST_BYTES:
        raise InputError(f"{NAME} has {sizes[SMALL]:,} bytes; accepted: {MOST_BYTES:,}")
    small, full = (found[row]["sts-dev"]["metrics"]["pearson"] for row in (SMALL, FULL))
    if small < full - MOST_BELOW:
        raise InputError(
            f"{NAME}: Pearson's r of STS-B dev is {small:.4f}, of the full module {full:.4f}; "
            f"accepted: {MOST_BELOW} less"
        )
    with aside(output) as new:
        shutil.copytree(modules[SMALL], new / NAME)
        files = sorted(file for file in (new / NAME).rglob("*") if file.is_file())
        # As `sha256sum` writes and checks them.
        sums = (f"{sha256([file])}  {file.relative_to(new)}\n" for file in files)
        (new / "SHA256SUMS").write_text("".join(sums))
        systems = {f"`{NAME}`": found[SMALL], "the full module": found[FULL]}
        systems |= _rivals(work / "results" / "baselines")
        (new / "README.md").write_text(_page(modules[SMALL], systems, sizes))
    print(f"-> {output}/{NAME}, {sizes[SMALL] / 1e6:.1f} MB; full: {modules[FULL]}")


def _rivals(baselines: Path) -> dict[str, dict]:
    """The results of pretrained encoders, by name, as they are: without a map that was learned."""
    found: dict[str, dict] = {}
    for path in sorted(baselines.glob("*/*.json")):
        result = json.loads(path.read_text())
        module = result["module"] or {}  # none where no text is scored
        if module.get("pretrained") and "about" not in module:
            found.setdefault(module["path"], {})[result["name"]] = result
    return found


def _page(module: Path, systems: dict[str, dict], sizes: dict[str, int]) -> str:
    rows = []
    for (name, metric), title in SHOWN.items():
        scored = [results.get(name) for results in systems.values()]
        if small := scored[0]:
            cells = (_cell(one, metric) if one else "-" for one in scored)
            rows.append([title, f"{small['n']:,}", *cells])
    rows.append(["size on disk", "", *(f"{sizes[row] / 1e6:,.1f} MB" for row in (SMALL, FULL))])
    training = identity.read(module)["training_data"]
    return jinja2.Template(TEMPLATE.read_text(), keep_trailing_newline=True).render(
        name=NAME,
        teacher=next(data["encoder"]["name"] for data in training if "encoder" in data),
        table=tabulate(rows, ("", "n", *systems), tablefmt="github"),
        about=runs.machine(),
    )


def _cell(result: dict, metric: str) -> str:
    low, high = result["intervals"][metric]
    return f"{result['metrics'][metric]:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
