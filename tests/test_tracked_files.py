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


def text_of(path):
    """What is written in a file; of a link, where it leads; nothing of a model's weights."""
    if path.is_symlink():
        return str(path.readlink())
    if path.name.startswith("variables.data-"):
        return ""
    return path.read_bytes().decode(errors="replace") if path.is_file() else ""


def test_no_tracked_file_names_a_place_of_a_machine():
    places = {str(place) for place in (Path.home(), REPOSITORY) if place != Path("/")}
    # Not the end of a longer path, such as runs/demo/data/ on a machine with a folder /data.
    joined = "|".join(map(re.escape, places))
    own = re.compile(rf"(?<![\w.)*~}}-])(?:{joined})/") if places else None
    found = []
    for path in tracked():
        text = text_of(path)
        found += [f"{path}: {match[0].strip()}" for match in MACHINE.finditer(text)]
        found += [f"{path}: {match[0]}" for match in own.finditer(text)] if own else []
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
