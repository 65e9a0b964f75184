"""Which package may import what of another, what may load TensorFlow, what a file may not name."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
ALLOWED = {
    "common": (),
    "data_pipeline": (),
    "model": (),
    "export": ("model",),
    "evaluation": (),
}
"""Package -> what it may import of others, besides `common`."""
EACH_PACKAGE = pytest.mark.parametrize("room", ALLOWED)


def imported_modules(path):
    """Every module that a file imports, `from a import b` as a.b."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@EACH_PACKAGE
def test_a_package_imports_only_what_it_may(room):
    files = list((REPOSITORY / room).rglob("*.py"))
    assert len(files) > 3
    for path in files:
        for name in imported_modules(path):
            other = name.split(".")[0]
            if other in ALLOWED.keys() - {room, "common"}:
                assert name.startswith(ALLOWED[room]), f"{path} imports {name}"


@EACH_PACKAGE
def test_no_part_of_a_package_is_imported_by_what_it_imports(room):
    graph = {}
    for path in (REPOSITORY / room).rglob("*.py"):
        part = path.relative_to(REPOSITORY / room).parts[0].removesuffix(".py")
        for name in imported_modules(path):
            package, other, *_ = f"{name}.".split(".")
            if package == room and other != part and not part.startswith("__"):
                graph.setdefault(part, set()).add(other)
    while graph:
        free = [part for part, others in graph.items() if not others & graph.keys()]
        assert free, f"{room}: a circle in {graph}"
        for part in free:
            del graph[part]


@EACH_PACKAGE
def test_no_folder_has_more_than_a_dozen_modules(room):
    for folder in (REPOSITORY / room).glob("**/"):
        assert len([path for path in folder.glob("*.py") if path.name[:2] != "__"]) <= 12, (
            f"{folder}: group some modules into a subfolder"
        )


def test_every_file_of_a_package_is_installed_with_it():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    packages = {path.parent for room in ALLOWED for path in (REPOSITORY / room).rglob("*.py")}
    installed = {path for one in packages for pattern in patterns for path in one.glob(pattern)}
    files = {
        path
        for room in ALLOWED
        for path in (REPOSITORY / room).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert files
    assert files <= installed


def test_neither_an_import_nor_help_waits_for_a_large_library():
    """In a process of its own: this one has imported them."""
    program = f"""
import contextlib, importlib, io, sys
def require_none(*large):
    assert not set(large) & sys.modules.keys(), set(large) & sys.modules.keys()
for name in ("common.tfrecord", *{list(ALLOWED)}):
    importlib.import_module(name)
require_none("tensorflow", "apache_beam", "pyarrow")
from tests.goldens.surface import PROGRAMS
for name in PROGRAMS:
    program = importlib.import_module(name + ".__main__")
    for arguments in [["--help"], *([command.name, "--help"] for command in program.COMMANDS)]:
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as said:
            program.main(arguments)
        assert "--" in said.getvalue(), (name, arguments)
require_none("tensorflow", "apache_beam", "pandas")
from evaluation.__main__ import COMMANDS
for command in COMMANDS:  # a module is loaded later
    importlib.import_module(command.run.partition(":")[0])
require_none("tensorflow")
"""
    subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, check=True)


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
