"""`snli_sweep`: figure 8."""

import argparse
import signal
import sys
import time
from pathlib import Path

from evaluation.cli import options
from evaluation.data.files import Source, existing, write_whole
from evaluation.errors import InputError
from evaluation.results.claim import claim

SHARES = "0,10,20,30,40,50,60,70,80,90,100"
AS_GIVEN = ("init_checkpoint", "params_override", "pairs", "sts", "seed", "keep")


def add(commands) -> None:
    """Add the command `snli_sweep`."""
    summary = "Pearson's r against the share of the NLI data that a model was trained on (figure 8)"
    more = (
        ". Trains, exports and scores a model for each share. What is finished is not done again."
    )
    parser = options.command(commands, "snli_sweep", run, summary=summary, more=more)
    parser.add_argument(
        "--init_checkpoint",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of the Reddit model that all trainings begin with",
    )
    parser.add_argument(
        "--config_file",
        type=Path,
        action="append",
        required=True,
        metavar="F.yaml",
        help="of python -m model, experiment reddit_nli; may be given several times",
    )
    parser.add_argument("--params_override", default="", help="of python -m model")
    parser.add_argument("--pairs", required=True, metavar="PATTERN", help="Reddit's train files")
    parser.add_argument("--nli", required=True, metavar="PATTERN", help="NLI train files, TFRecord")
    parser.add_argument(
        "--sts", type=Path, required=True, metavar="DIR", help="sts-dev.csv and sts-test.csv"
    )
    parser.add_argument("--shares", default=SHARES, help="in percent; default: %(default)s")
    parser.add_argument("--processes", type=int, default=1, help="trainings at a time; default: 1")
    options.folder_output(parser, help="folder for snli_sweep.json, .svg")
    parser.add_argument("--work_dir", type=Path, help="default: snli_sweep in --output")
    parser.add_argument("--keep", action="store_true", help="keep the models and the modules")
    options.seeded(parser)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Finish every point; write the result and the figure."""
    from evaluation.analysis import snli_sweep
    from evaluation.report import pictures
    from evaluation.results import store
    from evaluation.results.result import stamped

    sweep = _sweep(arguments)
    existing(sweep.init_checkpoint)
    if arguments.processes < 1:
        raise InputError(f"--processes is {arguments.processes}; 1 or more are accepted")
    # Ended from outside, it ends its trainings, which save first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.perf_counter()
    with claim(sweep.work, command="points", folder=True):
        snli_sweep.run(sweep, processes=arguments.processes, say=_say)
    found = stamped(
        snli_sweep.summary(sweep),
        data=sweep.nli.provenance(),
        module=None,
        command=command,
        seconds=time.perf_counter() - started,
    )
    path, figure = store.write(found, arguments.output), arguments.output / "snli_sweep.svg"
    write_whole(figure, pictures.nli_share(found.items))
    print(f"{_table(found)}\n-> {path}, {figure}")


def _table(result) -> str:
    """Return figure 8's points as a text table, one row a share."""
    from tabulate import tabulate

    from evaluation.results.text import figure

    headers = ["share", "dev", "test", "dev captions", "test captions"]
    kinds = (("pearson", "interval"), ("captions", "captions_interval"))
    body = []
    for item in result.items:
        points = [(item[split], kind) for kind in kinds for split in ("dev", "test")]
        cells = [figure(point[metric], point[interval]) for point, (metric, interval) in points]
        body.append([f"{item['share']:.0%}", *cells])
    return tabulate(body, headers=headers, disable_numparse=True, colalign=["right"] * 5)


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def _sweep(arguments: argparse.Namespace):
    """Return what is asked, checked."""
    from evaluation.analysis import snli_sweep
    from evaluation.data import sts_files

    try:
        shares = sorted({int(share) for share in arguments.shares.split(",")})
    except ValueError:
        shares = [-1]
    if any(share % 10 or not 0 <= share <= 100 for share in shares):
        raise InputError(f"--shares is {arguments.shares!r}; of {SHARES} any are accepted")
    pattern = Path(arguments.nli)
    files = tuple(sorted(pattern.parent.glob(pattern.name)))
    if not files:
        raise InputError(f"--nli {arguments.nli!r} matches no file")
    if not snli_sweep.sizes(arguments.pairs):
        raise InputError(f"--pairs {arguments.pairs!r} matches no file")
    scored = [source.name for source in sts_files.find(arguments.sts)]
    if missing := [name for name in snli_sweep.SPLITS if name not in scored]:
        raise InputError(f"--sts {arguments.sts}: no {missing[0]}.csv (plain or .gz)")
    return snli_sweep.Sweep(
        work=arguments.work_dir or arguments.output / "snli_sweep",
        config_files=[existing(file) for file in arguments.config_file],
        nli=Source("nli", files),
        shares=shares,
        **{name: getattr(arguments, name) for name in AS_GIVEN},
    )
