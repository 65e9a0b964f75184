"""Fetches the engines that the tests run the job on, each at one version, into `.engines/`.

    python tests/engines/fetch.py      # what `make engines` runs

Flink comes as its PyPI package of jars, Beam's job server for it from Maven, and Prism, Beam's
own engine in Go, from its Go module. What is there already is left alone. What cannot be had,
because a program is missing or a registry does not have it, is noted in
`.engines/missing.json`, and the tests that need it skip with that reason.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

FLINK_VERSION = "1.20.5"
"""Its 1.20 is the last series with long support; Beam's job server is made for each series."""
FLINK_SERIES = FLINK_VERSION.rpartition(".")[0]
BEAM_VERSION = version("apache-beam")
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"

FOLDER = Path(__file__).parents[2] / ".engines"
FLINK = FOLDER / f"flink-{FLINK_VERSION}"
JOB_SERVER = FOLDER / f"beam-runners-flink-{FLINK_SERIES}-job-server-{BEAM_VERSION}.jar"
PRISM = FOLDER / f"prism-{BEAM_VERSION}"
MISSING = FOLDER / "missing.json"
"""Name of a thing -> why it could not be had."""

_MINUTES = 10 * 60


class NotToBeHadError(Exception):
    """Why something could not be fetched, in one line."""


def fetch_flink(target: Path) -> None:
    """Flink's jars, out of the source package that carries them to PyPI."""
    _need("java")
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        _run(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--no-binary", ":all:", "--dest", scratch),
            f"apache-flink-libraries=={FLINK_VERSION}",
        )
        (package,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(package) as archive:
            archive.extractall(scratch, filter="data")
        (unpacked,) = Path(scratch).glob("*/deps")
        unpacked.rename(target)


def fetch_job_server(target: Path) -> None:
    """The program that turns a Beam job into a Flink job."""
    _need("java")
    _need("mvn")
    artifact = f"org.apache.beam:{target.name.removesuffix(f'-{BEAM_VERSION}.jar')}:{BEAM_VERSION}"
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        # -U: asks again for what was not there the last time.
        _run(
            *("mvn", "--batch-mode", "--quiet", "-U", MAVEN_COPY),
            *(f"-Dartifact={artifact}", f"-DoutputDirectory={scratch}"),
        )
        (Path(scratch) / target.name).rename(target)


def fetch_prism(target: Path) -> None:
    """Prism, compiled here."""
    _need("go")
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        module = f"github.com/apache/beam/sdks/v2/go/cmd/prism@v{BEAM_VERSION}"
        _run("go", "install", module, environment={"GOBIN": scratch})
        (Path(scratch) / "prism").rename(target)


STEPS: dict[str, tuple[Path, Callable[[Path], None]]] = {
    "Flink": (FLINK, fetch_flink),
    "Beam's job server for Flink": (JOB_SERVER, fetch_job_server),
    "Prism": (PRISM, fetch_prism),
}


def _need(program: str) -> None:
    if shutil.which(program) is None:
        raise NotToBeHadError(f"there is no {program} here")


def _run(*command: str, environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_MINUTES,
            check=False,
            env=os.environ | (environment or {}),
        )
    except subprocess.TimeoutExpired as error:
        raise NotToBeHadError(f"{command[0]} took more than {_MINUTES} s") from error
    if done.returncode:
        raise NotToBeHadError(f"{Path(command[0]).name}: {_first_error(done.stdout + done.stderr)}")


def _first_error(output: str) -> str:
    """The line that tells most."""
    missing = re.search(r"Could not find artifact [^\s(]+", output)
    if missing:
        return missing.group()
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no reason given"])[0][:200]


def main() -> None:
    """Fetches what is not there; says of each thing where it is or why it is not."""
    FOLDER.mkdir(exist_ok=True)
    missing = {}
    for name, (target, fetch) in STEPS.items():
        try:
            if not target.exists():
                fetch(target)
            print(f"{name}: {target.relative_to(FOLDER.parent)}")
        except NotToBeHadError as reason:
            missing[name] = str(reason)
            print(f"{name}: not to be had: {reason}")
    MISSING.write_text(json.dumps(missing, indent=2) + "\n")


if __name__ == "__main__":
    main()
