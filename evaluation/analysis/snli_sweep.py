"""Figure 8: Pearson's r on the STS Benchmark by the share of NLI training data.

Each share of the NLI data makes a point: `python -m model` trains from a Reddit model on,
`python -m export` writes the module, `python -m evaluation sts` scores it. The work folder:

    sweep.json            what the sweep was asked; another one is refused here
    nli/tenth-0 ... -9    the NLI records in tenths, drawn by the seed: a share is the first of them
    share-030/            log.txt, params.yaml, and while it is needed model/ and module/
    share-030/results/    sts-dev.json, sts-test.json: the point is finished

What is finished is not done again, and a killed training goes on from its checkpoint.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from evaluation.data import tfrecords
from evaluation.data.files import Source, sha256, write_whole
from evaluation.errors import InputError
from evaluation.report import nli_shares
from evaluation.results import store
from evaluation.results.result import Result

TENTHS = 10
SETTINGS = "sweep.json"
SPLITS = ("sts-dev", "sts-test")


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What a sweep is asked; `shares` in percent, multiples of ten."""

    work: Path
    init_checkpoint: Path
    config_files: Sequence[Path]
    params_override: str
    pairs: str
    nli: Source
    sts: Path
    shares: Sequence[int]
    seed: int
    keep: bool = False

    def settings(self) -> dict:
        """Return what must stay the same for points to be of one figure."""
        return {
            "init_checkpoint": str(self.init_checkpoint.resolve()),
            "checkpoints": sha256(tuple(sorted(self.init_checkpoint.glob("*.index")))),
            "config": [hashlib.sha256(file.read_bytes()).hexdigest() for file in self.config_files],
            "params_override": self.params_override,
            "pairs": self.pairs,
            "nli": self.nli.provenance()["sha256"],
            "pairs_files": sizes(self.pairs),
            "sts": str(self.sts.resolve()),
            "sts_files": sha256(tuple(sorted(self.sts.glob("sts-*.csv*")))),
            "seed": self.seed,
        }

    def folder(self, share: int) -> Path:
        """Return the folder of a point."""
        return self.work / f"share-{share:03d}"

    def finished(self, share: int) -> bool:
        """Say whether a point has both its results."""
        return all(store.path_of(name, self.folder(share) / "results").exists() for name in SPLITS)


def sizes(patterns: str) -> dict[str, int]:
    """Return the bytes of each file of training pairs, by which other pairs are noticed."""
    found = (Path(path) for one in patterns.split(",") for path in glob(one.strip()))  # noqa: PTH207
    return {str(path): path.stat().st_size for path in sorted(found)}


def run(sweep: Sweep, *, processes: int, say: Callable[[str], None]) -> None:
    """Train, export and score every point that is not finished, so many at a time.

    Raises:
      InputError: if the work folder is another sweep's, or a command fails.
    """
    _prepare(sweep)
    commands: set[subprocess.Popen] = set()
    with ThreadPoolExecutor(processes) as pool:
        points = [pool.submit(_point, sweep, share, commands, say) for share in sweep.shares]
        try:
            for point in points:
                point.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for command in list(commands):
                command.terminate()  # a training saves first
            raise


def _prepare(sweep: Sweep) -> None:
    """Make the work folder, or make sure that it is this sweep's; cut the data into tenths."""
    path, asked = sweep.work / SETTINGS, sweep.settings()
    if path.exists():
        try:
            stored = dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: not the settings of a sweep ({error}); remove it") from error
        for name, value in asked.items():
            if stored.get(name) != value:
                raise InputError(
                    f"{path}: a sweep with {name} {stored.get(name)!r}, not {value!r}; name "
                    "another --work_dir, or remove this one"
                )
    else:
        write_whole(path, json.dumps(asked, indent=1) + "\n")
    if not (sweep.work / "nli").exists():
        _write_tenths(sweep.nli.files, sweep.work / "nli", seed=sweep.seed)


def _write_tenths(files: Sequence[Path], folder: Path, *, seed: int) -> None:
    """Write the records of all files in ten files, by a seeded hash: each in one, all about equal.

    So a share holds every record of the smaller shares.
    """
    import tensorflow as tf  # here, because importing it takes seconds

    records = [record for file in files for record in tfrecords.records(file)]
    if len(records) < TENTHS:
        raise InputError(f"{files[0].parent}: {len(records)} NLI records; {TENTHS} or more needed")
    records.sort(key=lambda record: hashlib.sha256(b"%d\0" % seed + record).digest())
    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    for tenth in range(TENTHS):
        with tf.io.TFRecordWriter(str(aside / f"tenth-{tenth}.tfrecord")) as writer:
            for record in records[tenth::TENTHS]:
                writer.write(record)
    aside.rename(folder)


def _point(sweep: Sweep, share: int, commands: set, say: Callable[[str], None]) -> None:
    """Train, export and score one share, from where an earlier attempt stopped."""
    if sweep.finished(share):
        say(f"{share}%: there already")
        return
    folder = sweep.folder(share)
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "module").exists():
        say(f"{share}%: training")
        write_whole(folder / "params.yaml", json.dumps(_parameters(sweep, share), indent=1))
        _run(_train_command(sweep, folder), folder=folder, commands=commands)
        say(f"{share}%: exporting")
        export = ["export", "--model_dir", folder / "model", "--output", folder / "module"]
        _run(export, folder=folder, commands=commands)
    scored = ["--module", folder / "module", "--output", folder / "results"]
    score = ["evaluation", "sts", *scored, "--data", sweep.sts, "--seed", sweep.seed]
    _run(score, folder=folder, commands=commands)
    if not sweep.keep:
        for name in ("model", "module"):
            shutil.rmtree(folder / name, ignore_errors=True)
    say(f"{share}%: finished")


def _run(arguments: Sequence, *, folder: Path, commands: set) -> None:
    """Run `python -m ARGUMENTS`, its output into log.txt; InputError where it fails."""
    log = folder / "log.txt"
    with log.open("a") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *map(str, arguments)], stdout=output, stderr=subprocess.STDOUT
        )
        commands.add(process)
        status = process.wait()
        commands.discard(process)
    if status:
        lines = log.read_text(errors="replace").replace("\r", "\n").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        raise InputError(f"{log}: python -m {arguments[0]} failed with status {status}: {last}")


def _parameters(sweep: Sweep, share: int) -> dict:
    """Return what a share's training has of its own; at 0% all steps are on Reddit."""
    count = max(1, share * TENTHS // 100)
    nli = [str(sweep.work / "nli" / f"tenth-{tenth}.tfrecord") for tenth in range(count)]
    task: dict = {
        "init_checkpoint": str(sweep.init_checkpoint),
        "train_data": {"input_path": sweep.pairs},
        "nli": {"train_data": {"input_path": nli}},
    }
    if share == 0:
        task["nli"]["share"] = 0.0
    return {"task": task}


def _train_command(sweep: Sweep, folder: Path) -> list[str]:
    """Return the arguments of python -m for a training."""
    configs = [*sweep.config_files, folder / "params.yaml"]
    command = ["model", "--experiment", "reddit_nli", "--mode", "train"]
    command += ["--model_dir", str(folder / "model")]
    for config in configs:
        command += ["--config_file", str(config)]
    if sweep.params_override:
        command += ["--params_override", sweep.params_override]
    return command


def summary(sweep: Sweep) -> Result:
    """Return the points that are finished, as one result: figure 8."""
    items = [_item(sweep, share) for share in sweep.shares if sweep.finished(share)]
    last = items[-1] if items else {}
    metrics = {f"{name}_pearson": last[name]["pearson"] for name in ("dev", "test") if last}
    return Result(
        task="snli_sweep",
        name="snli_sweep",
        system="module",
        metrics=metrics,
        n=len(items),
        settings={"seed": sweep.seed},
        notes=["At 0% all steps are on Reddit; at every other share the same part is on NLI data."],
        items=items,
    )


def _item(sweep: Sweep, share: int) -> dict:
    """Return one point: r and its interval, of all pairs and of captions, on dev and test."""
    item: dict = {"share": share / 100}
    for name in SPLITS:
        found = store.read(store.path_of(name, sweep.folder(share) / "results"))
        item[name.removeprefix("sts-")] = nli_shares.of_split(found)
        item["fingerprint"] = (found.module or {}).get("fingerprint")
    return item
