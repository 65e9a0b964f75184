"""Puts the small module into the repository: `make pretrained` calls it.

    python -m benchmarks.quality.pretrained --runs runs/reproduce --output pretrained

Adds the scores to the model cards of the rows `small` and `teacher_nli`, the full module. Writes
the small one to `conversations-small/`, the checksums of its files to `SHA256SUMS` and a page that
compares the two to `README.md`. A module that is too large, or scores too far below the full one,
is refused.
"""

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
    ("response_ranking", "p_at_1"): "replies of a month that neither saw: P@1 of 100",
    ("response_ranking", "p_at_10"): "the same: P@10 of 100",
    ("snli-test", "accuracy"): "SNLI, test: accuracy",
    ("cqa-SemEval2016-Task3-CQA-QL-dev", "map"): "SemEval 2016 task 3, dev: MAP",
}
"""(name of the result, metric) -> what the page calls it."""
TEMPLATE = Path(__file__).with_name("pretrained.md.jinja")


def main() -> None:
    """Writes the folder; exits with one line and status 1 if the module is not good enough."""
    given = runs.given(__doc__, "runs", "output")
    with errors_in_one_line():
        publish(Path(given.runs), Path(given.output))


def publish(work: Path, output: Path) -> None:
    """Writes the module, its checksums and its page; what `output` holds is replaced.

    `work` is the folder of `make reproduce`, with `modules/` and `results/`. A small module that
    is too large or too far below the full one is an InputError.
    """
    modules = {row: work / "modules" / f"{row}-0" for row in (SMALL, FULL)}
    found = {}
    for row, module in modules.items():
        add_scores(module, work / "results" / f"{row}-0")
        stored = model_card.scores(module)
        found[row] = {one["name"]: one for one in stored}
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
        (new / "README.md").write_text(_page(modules[SMALL], found, sizes))
    print(f"-> {output}/{NAME}, {sizes[SMALL] / 1e6:.1f} MB; full: {modules[FULL]}")


def _page(module: Path, found: dict[str, dict], sizes: dict[str, int]) -> str:
    rows = []
    for (name, metric), title in SHOWN.items():
        row = [title]
        for of in (found[SMALL][name], found[FULL][name]):
            low, high = of["intervals"][metric]
            row.append(f"{of['metrics'][metric]:.3f} ({low:.3f} to {high:.3f})")
        rows.append([*row, f"{found[SMALL][name]['n']:,}"])
    rows.append(["size on disk", *(f"{sizes[row] / 1e6:,.1f} MB" for row in (SMALL, FULL)), ""])
    training = identity.read(module)["training_data"]
    return jinja2.Template(TEMPLATE.read_text(), keep_trailing_newline=True).render(
        name=NAME,
        teacher=next(data["encoder"]["name"] for data in training if "encoder" in data),
        table=tabulate(rows, ("", f"`{NAME}`", "the full module", "n"), tablefmt="github"),
        about=runs.machine(),
    )


if __name__ == "__main__":
    main()
