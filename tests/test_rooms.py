"""The one-way street: which room may import what of another, and what a command may wait for."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
ROOMS = ("data_pipeline", "model", "export", "evaluation")
EVERYBODY = "common"
ALLOWED = {
    "data_pipeline": (),
    "model": (
        "data_pipeline.pairs.tfrecord",
        "data_pipeline.storage.synthetic",
    ),
    "export": ("model",),
    "evaluation": (),
}


def imported_modules(path):
    """Every module that a file imports, `from a import b` as a.b."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("room", [*ROOMS, EVERYBODY])
def test_a_room_imports_only_what_it_may(room):
    files = list((REPOSITORY / room).rglob("*.py"))
    assert len(files) > 3
    for path in files:
        for name in imported_modules(path):
            other = name.split(".")[0]
            if other in ROOMS and other != room:
                assert name.startswith(ALLOWED.get(room, ())), f"{path} imports {name}"


def parts_imported(room):
    """Part of a package, which is a folder or a module, to the parts that it imports."""
    found = {}
    for path in (REPOSITORY / room).rglob("*.py"):
        part = path.relative_to(REPOSITORY / room).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        for name in imported_modules(path):
            package, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if package == room and other != part:
                found.setdefault(part, set()).add(other)
    return found


@pytest.mark.parametrize("room", [*ROOMS, EVERYBODY])
def test_no_part_of_a_package_is_imported_by_what_it_imports(room):
    graph = parts_imported(room)
    while graph:
        free = [part for part, others in graph.items() if not others & graph.keys()]
        assert free, f"{room}: a circle in {graph}"
        for part in free:
            del graph[part]


@pytest.mark.parametrize("room", [*ROOMS, EVERYBODY])
def test_no_folder_has_more_than_a_dozen_modules(room):
    folders = {path.parent for path in (REPOSITORY / room).rglob("*.py")}
    many = [
        folder
        for folder in folders
        if len([path for path in folder.glob("*.py") if path.name[:2] != "__"]) > 12
    ]
    assert not many


def test_every_file_of_a_package_is_installed_with_it():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    installed = {
        path
        for package, patterns in project["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in (REPOSITORY / package.replace(".", "/")).glob(pattern)
    }
    files = {
        path
        for room in (*ROOMS, EVERYBODY)
        for path in (REPOSITORY / room).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert files
    assert files <= installed


@pytest.mark.parametrize("room", ROOMS)
def test_help_does_not_wait_for_tensorflow(room):
    program = (
        "import runpy, sys\n"
        f"sys.argv = ['{room}', '--help']\n"
        "try:\n"
        f"    runpy.run_module('{room}', run_name='__main__')\n"
        "except SystemExit:\n"
        "    pass\n"
        "sys.exit('tensorflow' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"--" in done.stdout
