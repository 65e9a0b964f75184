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


def test_no_tracked_file_names_a_place_of_a_machine():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("no git repository")
    found = []
    for path in (REPOSITORY / name for name in listed.stdout.split("\0") if name):
        if path.is_symlink():
            text = str(path.readlink())
        elif path.is_file() and not path.name.startswith("variables.data-"):  # a model's weights
            text = path.read_bytes().decode(errors="replace")
        else:
            continue
        found += [f"{path}: {match[0].strip()}" for match in MACHINE.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    ("line", "is_noticed"),
    [
        ("--find" + "-links /anywhere", True),
        ("# see /ho" + "me/someone/notes", True),
        ('DATA = "/wo' + 'rk/data"', True),
        ("fil" + "e:///etc/hosts", True),
        ("https://py" + "pi.example.org/simple", True),
        ("pip-compile --no-emit-find-links --no-emit-index-url", False),
        ('f"{tmp_path}/work/x"', False),
    ],
)
def test_such_a_place_is_noticed(line, is_noticed):
    assert bool(MACHINE.search(line)) == is_noticed
