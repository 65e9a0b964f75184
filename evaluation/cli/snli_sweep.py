"""`snli_sweep`: figure 8.

python -m evaluation snli_sweep --init_checkpoint RUN --config_file F.yaml --pairs 'DIR/train-*' \
    --nli 'DIR/nli-*' --sts DIR --output DIR
"""

import argparse
import signal
import sys
import time
from functools import partial
from pathlib import Path

from evaluation.cli import options

SHARES = "0,10,20,30,40,50,60,70,80,90,100"


def add(commands) -> None:
    """Add the command `snli_sweep`."""
    summary = "Pearson's r by how much NLI data a model was trained with (figure 8)"
    parser = commands.add_parser(
        "snli_sweep",
        help=summary,
        description=f"{summary}. Trains, exports and scores a model for each share. What is "
        "finished is not done again; several processes may share the work folder.",
    )
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
    parser.add_argument(
        "--output", type=Path, required=True, help="folder for snli_sweep.json, .svg"
    )
    parser.add_argument("--work_dir", type=Path, help="default: snli_sweep in --output")
    parser.add_argument("--keep", action="store_true", help="keep the models and the modules")
    options.seeded(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Finish the points that are not another process's; draw all that are finished."""
    from evaluation.analysis import snli_sweep
    from evaluation.data.files import existing, write_whole
    from evaluation.errors import InputError
    from evaluation.report import figure8, scores
    from evaluation.results import result
    from evaluation.results.claim import claim

    sweep = _sweep(arguments)
    existing(sweep.init_checkpoint)
    if arguments.processes < 1:
        raise InputError(f"--processes is {arguments.processes}; 1 or more are accepted")
    # Several processes may share the output: each holds it only to write what all have finished.
    output = partial(claim, arguments.output, command="snli_sweep", folder=True, wait=True)
    with output():
        pass  # it can be written
    # Ended from outside, it ends its trainings, which save first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.perf_counter()
    missing = snli_sweep.run(sweep, processes=arguments.processes, say=_say)
    figure = arguments.output / "snli_sweep.svg"
    with output():
        found = result.stamped(
            snli_sweep.summary(sweep),
            data=sweep.nli.provenance(),
            module=None,
            command=command,
            seconds=time.perf_counter() - started,
        )
        path = result.write(found, arguments.output)
        write_whole(figure, figure8.document(found))
    print(f"{scores.sweep_table(found)}\n-> {path}, {figure}")
    if missing:
        print(f"not finished yet, by other processes: {', '.join(f'{x}%' for x in missing)}")


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def _sweep(arguments: argparse.Namespace):
    """Check what is asked."""
    from evaluation.analysis import snli_sweep
    from evaluation.data import sts_files
    from evaluation.data.files import Source, existing
    from evaluation.errors import InputError

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
    scored = [source.name for source in sts_files.find(arguments.sts)]
    if missing := [name for name in snli_sweep.SPLITS if name not in scored]:
        raise InputError(f"--sts {arguments.sts}: no {missing[0]}.csv (plain or .gz)")
    return snli_sweep.Sweep(
        work=arguments.work_dir or arguments.output / "snli_sweep",
        init_checkpoint=arguments.init_checkpoint,
        config_files=[existing(file) for file in arguments.config_file],
        params_override=arguments.params_override,
        pairs=arguments.pairs,
        nli=Source("nli", files),
        sts=arguments.sts,
        shares=shares,
        seed=arguments.seed,
        keep=arguments.keep,
    )
