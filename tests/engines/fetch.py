"""Fetches the engines that the tests run the job on, each at one version, into `.engines/`.

    python -m tests.engines.fetch      # what `make engines` runs

Flink and Spark come as the packages of jars that the Python index has. Beam's job server for each
is built from its parts with Maven (deploy/flink/pom.xml, deploy/spark/pom.xml) and started once to
check it. Prism, Beam's own engine in Go, comes as its Go module. What is there already is left
alone. What cannot be fetched, because a program is missing or a registry does not answer, is noted
in `.engines/missing.json`, and the tests that need it skip with that reason.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from tests.engines import processes

FLINK_VERSION = "1.19.3"
FLINK_SERIES = FLINK_VERSION.rpartition(".")[0]
SPARK_VERSION = "3.5.9"
JOB_SERVER_VERSION = "2.62.0"
"""Beam's. Of this one the registry has every part; of 2.70.0 and 2.77.0 some are missing."""
BEAM_VERSION = version("apache-beam")

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / ".engines"
FLINK = FOLDER / f"flink-{FLINK_VERSION}"
SPARK = FOLDER / f"spark-{SPARK_VERSION}"
FLINK_JOB_SERVER = FOLDER / f"flink-{FLINK_SERIES}-job-server-{JOB_SERVER_VERSION}.jar"
SPARK_JOB_SERVER = FOLDER / f"spark-{SPARK_VERSION}-job-server-{JOB_SERVER_VERSION}.jar"
PRISM = FOLDER / f"prism-{BEAM_VERSION}"
MISSING = FOLDER / "missing.json"
"""Name of a thing -> why it could not be fetched."""

_TRIES = 3
_SECONDS_BETWEEN_TRIES = 5
_SECONDS_OF_A_PROGRAM = 10 * 60
_SECONDS_TO_START = 60
_PACKAGES = {"java": "a Java 17 runtime", "mvn": "Maven 3.8 or newer", "go": "Go"}
"""What to install where a program is missing."""


class NotToBeHadError(Exception):
    """Why something could not be fetched, in one line."""


class NoProgramError(NotToBeHadError):
    """A program is missing, and trying again will not help."""


def fetch_flink(target: Path) -> None:
    """Flink's jars, out of the source package that carries them."""
    with _unpacked(f"apache-flink-libraries=={FLINK_VERSION}") as package:
        (package / "deps").rename(target)


def fetch_spark(target: Path) -> None:
    """Spark's jars, out of the source package that carries them."""
    with _unpacked(f"pyspark=={SPARK_VERSION}") as package:
        (package / "deps").rename(target)


@contextmanager
def _unpacked(requirement: str) -> Iterator[Path]:
    """The unpacked source package of a requirement, in a folder that goes afterwards."""
    _need("java")
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        _run(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--no-binary", ":all:", "--dest", scratch, requirement),
        )
        (package,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(package) as archive:
            archive.extractall(scratch, filter="data")
        (unpacked,) = (path for path in Path(scratch).iterdir() if path.is_dir())
        yield unpacked


def build_flink_job_server(target: Path) -> None:
    """The program that turns a Beam job into a Flink job."""
    _build_job_server(target, "flink", f"-Dflink.series={FLINK_SERIES}")


def build_spark_job_server(target: Path) -> None:
    """The program that runs a Beam job as a Spark driver."""
    _build_job_server(target, "spark", f"-Dspark.version={SPARK_VERSION}")


def _build_job_server(target: Path, engine: str, version_of_engine: str) -> None:
    for program in ("java", "mvn"):
        _need(program)
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        # -U: asks again for what was not there the last time.
        _run(
            *("mvn", "--batch-mode", "--quiet", "-U", "package"),
            *("--file", str(REPOSITORY / "deploy" / engine / "pom.xml")),
            *(f"-Dbeam.version={JOB_SERVER_VERSION}", version_of_engine),
            f"-Dbuild.folder={scratch}",
        )
        (jar,) = Path(scratch).glob(f"{engine}-job-server-*.jar")
        _check_job_server(jar)
        jar.rename(target)


def _check_job_server(jar: Path) -> None:
    """Starts a job server, waits until it takes jobs, and ends it."""
    log = jar.with_suffix(".log")
    (port,) = processes.free_ports(1)
    group = processes.start(
        *("java", "-jar", jar, f"--job-port={port}", "--artifact-port=0", "--expansion-port=0"),
        log=log,
        folder=jar.parent,
    )
    try:
        processes.wait_until(
            lambda: processes.listens(port) or not processes.is_alive(group),
            seconds=_SECONDS_TO_START,
            what=f"{jar.name} takes jobs",
        )
        if not processes.is_alive(group):
            raise NotToBeHadError(f"{jar.name}: {_first_error(log.read_text())}")
    except TimeoutError as error:
        raise NotToBeHadError(str(error)) from error
    finally:
        processes.stop(group)


def fetch_prism(target: Path) -> None:
    """Prism, compiled here."""
    _need("go")
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        module = f"github.com/apache/beam/sdks/v2/go/cmd/prism@v{BEAM_VERSION}"
        _run("go", "install", module, environment={"GOBIN": scratch})
        (Path(scratch) / "prism").rename(target)


STEPS: dict[str, tuple[Path, Callable[[Path], None]]] = {
    "Flink": (FLINK, fetch_flink),
    "Beam's job server for Flink": (FLINK_JOB_SERVER, build_flink_job_server),
    "Spark": (SPARK, fetch_spark),
    "Beam's job server for Spark": (SPARK_JOB_SERVER, build_spark_job_server),
    "Prism": (PRISM, fetch_prism),
}
_AT_ONCE = (
    # One after the other: two Mavens must not write one local repository.
    ("Beam's job server for Flink", "Beam's job server for Spark"),
    ("Flink", "Spark", "Prism"),
)


def _need(program: str) -> None:
    if shutil.which(program) is None:
        raise NoProgramError(f"there is no {program} here; install {_PACKAGES[program]}")


def _run(*command: str, environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_SECONDS_OF_A_PROGRAM,
            check=False,
            env=os.environ | (environment or {}),
        )
    except subprocess.TimeoutExpired as error:
        raise NotToBeHadError(f"{command[0]} took more than {_SECONDS_OF_A_PROGRAM} s") from error
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


def get(name: str) -> str | None:
    """Fetches one thing if it is not there; returns why that failed, if it did."""
    target, fetch = STEPS[name]
    for tries_left in reversed(range(_TRIES)):
        try:
            if not target.exists():
                fetch(target)
            print(f"{name}: {target.relative_to(FOLDER.parent)}", flush=True)
            return None
        except NotToBeHadError as error:
            reason = str(error)
            if not tries_left or isinstance(error, NoProgramError):
                break
            print(f"{name}: {reason}; tried again", flush=True)
            time.sleep(_SECONDS_BETWEEN_TRIES)
    print(f"{name}: not available: {reason}", flush=True)
    return reason


def main() -> None:
    """Fetches what is not there; says of each thing where it is or why it is not."""
    FOLDER.mkdir(exist_ok=True)
    with ThreadPoolExecutor(len(_AT_ONCE)) as pool:
        reasons = pool.map(lambda names: {name: get(name) for name in names}, _AT_ONCE)
    missing = {name: reason for part in reasons for name, reason in part.items() if reason}
    MISSING.write_text(json.dumps(missing, indent=2) + "\n")


if __name__ == "__main__":
    main()
