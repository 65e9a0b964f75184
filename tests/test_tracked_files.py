"""No tracked file names a place of the machine that it was written on."""

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
MACHINE = re.compile(
    r"""(?:^|[\s"'`=(:,\[])/(?:home|root|work|opt|mnt|srv|Users)/[\w.]"""  # where people work
    r"|\b[A-Z]:\\Users\\"
    r"|(?<![\w-])--(?:find-links|index-url|extra-index-url|trusted-host)\b"
    r"|\bfile:/{3}"
    r"|\bhttps?://[\w.:-]*(?:pypi|pythonhosted|devpi|artifactory|nexus|/simple\b)",
    re.MULTILINE,
)


def tracked():
    found = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=False
    )
    if found.returncode:
        pytest.skip("no git repository")
    return [REPOSITORY / name for name in found.stdout.decode().split("\0") if name]


def test_no_tracked_file_names_a_place_of_a_machine():
    own = {f"{place}/" for place in (Path.home(), REPOSITORY) if place != Path("/")}
    found = []
    for path in tracked():
        text = path.read_bytes().decode(errors="replace") if path.is_file() else ""
        found += [f"{path}: {match[0].strip()}" for match in MACHINE.finditer(text)]
        found += [f"{path}: {place}" for place in own if place in text]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "--find" + "-links /anywhere",
        "-r x --extra" + "-index-url=y",
        "# see /ho" + "me/someone/notes",
        'DATA = "/wo' + 'rk/data"',
        "fil" + "e:///etc/hosts",
        "https://py" + "pi.example.org/simple",
        "a @ C:" + "\\Users\\someone",
    ],
)
def test_such_a_place_is_noticed(line):
    assert MACHINE.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip-compile --no-emit-find-links --no-emit-index-url",
        'f"{tmp_path}/work/x"',
        "runs/work/home/",
        "https://github.com/tensorflow/text",
        "'path' = 'file://\" + arguments[1]",
    ],
)
def test_what_is_no_such_place_is_not(line):
    assert not MACHINE.search(line)
