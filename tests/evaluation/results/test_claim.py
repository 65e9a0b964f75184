"""Two commands on one output: the second is refused, and nothing is ever mixed."""

import dataclasses
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from evaluation.__main__ import main
from evaluation.errors import InputError
from evaluation.results.claim import claim

REPOSITORY = Path(__file__).parents[3]


def test_the_second_is_refused_at_once_and_told_who_the_first_is(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    with (
        claim(tmp_path / "out", command="sts", folder=True),
        pytest.raises(InputError) as refused,
        claim(tmp_path / "out", command="sts", folder=True),
    ):
        raise AssertionError("both hold it")
    (line,) = str(refused.value).splitlines()
    who = f"in use by process {os.getpid()} on {socket.gethostname()} since "
    assert line.startswith(f"--output {tmp_path / 'out'} is {who}")
    assert re.search(r" since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.* \(sts\); wait", line)
    with claim(tmp_path / "out", command="sts", folder=True):
        pass


def test_what_does_not_meet_is_not_refused(tmp_path):
    with (
        claim(tmp_path, command="sts", folder=True),
        claim(tmp_path, command="cqa", folder=True),
        claim(tmp_path / "page.html", command="report", folder=False),
        claim(tmp_path / "other.html", command="report", folder=False),
        # It is written beside page.html.
        pytest.raises(InputError, match=r"\(report\)"),
        claim(tmp_path / "page.json", command="compare", folder=False),
    ):
        pass


def test_nothing_is_left_of_a_command_that_wrote_nothing(tmp_path):
    with pytest.raises(KeyError), claim(tmp_path / "a" / "b", command="sts", folder=True):
        assert (tmp_path / "a" / "b").is_dir()
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with claim(tmp_path / "a" / "page.html", command="report", folder=False):
        (tmp_path / "a" / "page.html").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("output", "folder", "reason"),
    [
        ("file", True, "file is a file"),
        ("file/x", True, "file is a file"),
        ("file/x/page.html", False, "file is a file"),
        ("/proc/x", True, "cannot be written"),
        ("folder", False, "a folder; the name of a file is accepted"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(tmp_path, output, folder, reason):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with (
        pytest.raises(InputError, match=rf"--output .*{output}: .*{reason}"),
        claim(tmp_path / output, command="sts", folder=folder),
    ):
        pass
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_the_claim_of_a_killed_process_is_taken_over_at_once(tmp_path):
    code = (
        "import time; from pathlib import Path; from evaluation.results.claim import claim\n"
        f"with claim(Path({str(tmp_path)!r}), command='sts', folder=True):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=REPOSITORY)
    assert process.stdout.readline() == b"held\n"
    with (
        pytest.raises(InputError, match=f"by process {process.pid} on"),
        claim(tmp_path, command="sts", folder=True),
    ):
        pass
    process.kill()
    process.wait()
    process.stdout.close()
    assert (tmp_path / ".sts.claim").exists()
    with claim(tmp_path, command="sts", folder=True):
        pass
    assert list(tmp_path.iterdir()) == []


@dataclasses.dataclass
class World:
    """Two jobs of each of four commands, what each writes, and what that is when it is alone."""

    commands: dict[str, list[str]]
    alone: dict[str, dict[str, str]]


def contents(folder):
    """What a folder holds, but for the seconds that a result took, and for results their data."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = path.read_text()
            if path.parent.name == "results":
                text = json.loads(text)["data"]["sha256"]
            found[str(path.relative_to(folder))] = text
    return found


@pytest.fixture
def world(tmp_path, write_text):
    """Shared are a folder of results, and page.html, page.md, page.json and rows.md beside it."""
    commands, alone = {}, {}
    shared = tmp_path / "shared"
    for job in "ab":
        for name in ("one", "two"):
            row = f"Q\tR\t1\t1\t{'true' if job == 'a' else 'false'}\nQ\tS\t2\t0.5\ttrue\n"
            write_text(f"{job}/cqa/{name}.xml.subtaskB.relevancy", row.replace("Q", f"{job}{name}"))
        write_text(f"{job}/COMPLETED", '{"outputs": {"train-0": {"records": 3}}}')
        data, own = ["--data", f"{tmp_path}/{job}/cqa"], f"{tmp_path}/{job}/results"
        assert main(["cqa", *data, "--output", f"{own}/{job}-0"]) == 0
        commands |= {
            f"cqa {job}": ["cqa", *data, "--output", f"{shared}/results"],
            f"report {job}": [
                *("report", "--results", f"{own}/{job}-0", "--output", f"{shared}/page.html")
            ],
            f"compare {job}": [
                *("compare", f"{own}/{job}-0", f"{own}/{job}-0"),
                *("--output", f"{shared}/page.json"),
            ],
            f"rows {job}": [
                *("rows", "--results", own, "--pairs", f"{tmp_path}/{job}"),
                *("--output", f"{shared}/rows.md"),
            ],
        }
    for name, argv in commands.items():
        assert main(argv) == 0
        alone[name] = contents(shared)
        shutil.rmtree(shared)
    return World(commands, alone)


def draws(world, folder, *, count, seed):
    """Start two jobs at a random distance, again and again; count how often both succeeded."""
    chance = random.Random(seed)
    both = 0
    for number in range(count):
        names = chance.choices(list(world.commands), k=2)
        statuses = {}

        def start(place, name, statuses=statuses):
            statuses[place] = main(world.commands[name])

        threads = [
            threading.Thread(target=start, args=(place, name)) for place, name in enumerate(names)
        ]
        for thread in threads:
            thread.start()
            time.sleep(chance.choice([0, 0.002, 0.01]))
        for thread in threads:
            thread.join()
        done = [name for place, name in enumerate(names) if statuses[place] == 0]
        assert done, (number, names)
        found = contents(folder)
        parts = [world.alone[name] for name in done]
        whole = [parts[0] | parts[-1], parts[-1] | parts[0]]
        assert found in whole, (number, names, statuses)
        if parts[0].keys() & parts[-1].keys():
            assert found in parts, (number, names, statuses)
        both += len(done) == 2
        shutil.rmtree(folder)
    return both


def test_jobs_started_together_leave_one_of_them_whole(world, tmp_path):
    assert 0 < draws(world, tmp_path / "shared", count=30, seed=0) < 30


@pytest.mark.slow
def test_jobs_started_together_leave_one_of_them_whole_whatever_the_draw(world, tmp_path):
    assert 0 < draws(world, tmp_path / "shared", count=100, seed=1) < 100
