"""An environment of the libraries that load modules in other forms, at pinned versions.

They would change the versions of this project's own packages, so they are installed apart, once for
each content of `requirements.txt`: into `.libraries/`, which git ignores.
"""

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"
FOLDER = HERE.parents[2] / ".libraries"


def python() -> Path:
    """The environment's interpreter.

    Raises:
      subprocess.CalledProcessError: if a package cannot be installed.
    """
    folder = FOLDER / hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    interpreter, installed = folder / "bin" / "python", folder / "installed"
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            quiet = ("--quiet", "--disable-pip-version-check")
            pip = (interpreter, "-m", "pip", "install", *quiet)
            subprocess.run([*pip, "--requirement", REQUIREMENTS], check=True)
            installed.touch()
    return interpreter
