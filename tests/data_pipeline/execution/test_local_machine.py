"""What the local runner takes of a machine: processes by the input's size, memory or a refusal."""

from types import SimpleNamespace

import pytest
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from common.errors import InputError
from data_pipeline.execution import local_machine
from data_pipeline.execution.local_machine import choose_workers, require_memory
from data_pipeline.storage.inputs import InputFile

MEGABYTE, GIGABYTE = 1 << 20, 10**9


@pytest.fixture
def workers(monkeypatch):
    """How many processes are chosen on a machine with 4 cores, and the running mode."""
    monkeypatch.setattr(local_machine.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})

    def choose(*given, stored_bytes):
        options = PipelineOptions(list(given))
        chosen = choose_workers(options, list(given), stored_bytes=stored_bytes)
        direct = options.view_as(DirectOptions)
        assert direct.direct_num_workers == chosen
        return chosen, direct.direct_running_mode

    return choose


@pytest.mark.parametrize(
    ("stored_bytes", "processes"),
    [(0, 1), (MEGABYTE, 1), (15 * MEGABYTE, 1), (16 * MEGABYTE, 2), (10 * GIGABYTE, 4)],
)
def test_as_many_processes_as_the_input_is_worth(workers, stored_bytes, processes):
    mode = "in_memory" if processes == 1 else "multi_processing"
    assert workers(stored_bytes=stored_bytes) == (processes, mode)


@pytest.mark.parametrize("stored_bytes", [0, 10 * GIGABYTE])
@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        (["--direct_num_workers", "1"], (1, "in_memory")),
        (["--direct_num_workers=1"], (1, "in_memory")),
        (["--direct_num_workers=7"], (7, "in_memory")),
        (["--direct_running_mode=multi_threading"], (1, "multi_threading")),
        (
            ["--direct_num_workers", "3", "--direct_running_mode", "multi_processing"],
            (3, "multi_processing"),
        ),
    ],
)
def test_what_the_user_says_stands(workers, given, chosen, stored_bytes):
    assert workers(*given, stored_bytes=stored_bytes) == chosen


def test_other_options_of_beam_change_nothing(workers):
    assert workers("--job_name", "x", stored_bytes=10 * GIGABYTE) == (4, "multi_processing")


def test_no_number_is_all_cores_as_it_is_to_beam(monkeypatch):
    monkeypatch.setattr(local_machine.os, "cpu_count", lambda: 5)
    given = ["--direct_num_workers=0"]
    assert choose_workers(PipelineOptions(given), given, stored_bytes=0) == 5


@pytest.fixture
def free(monkeypatch):
    """Sets how much memory the machine says is free."""

    def of(available):
        memory = SimpleNamespace(available=available)
        monkeypatch.setattr(local_machine.psutil, "virtual_memory", lambda: memory)

    return of


ASKED = {"partitions": 1000, "workers": 3}


@pytest.mark.parametrize(
    ("name", "stored_bytes"), [("RC.zst", 250 * 10**9), ("RC.json", 1_100 * 10**9)]
)
def test_only_what_cannot_fit_is_refused(free, name, stored_bytes):
    dumps = [InputFile(name, stored_bytes)]
    # A billion comments of the longest kind in 1000 partitions: a million in each, 0.9 GB.
    needed = 3 * (250 * MEGABYTE + 9 * 10**8)
    free(needed + 1)
    require_memory(dumps, **ASKED)
    free(needed - 1)
    with pytest.raises(InputError):
        require_memory(dumps, **ASKED)
    require_memory(dumps, **ASKED | {"workers": 2})
    require_memory(dumps, **ASKED | {"partitions": 1001})


@pytest.mark.parametrize(
    ("name", "stored_bytes"), [("RC.ZST", 46 * 10**9), ("RC.json", 250 * 10**9)]
)
def test_what_may_not_fit_is_a_warning(free, caplog, name, stored_bytes):
    # A billion comments of the shortest kind: 1 GB in each partition.
    free(3 * (400 * MEGABYTE + 10**9))
    require_memory([InputFile(name, stored_bytes)], **ASKED)
    assert caplog.messages == []
    free(3 * (400 * MEGABYTE + 10**9) - 1)
    require_memory([InputFile(name, stored_bytes)], **ASKED)
    (message,) = caplog.messages
    assert " to 4.3 GB of memory in 3 processes, and this machine has 4.3 GB free" in message


def test_a_refusal_says_how_much_and_names_the_ways_out(free):
    free(2 * GIGABYTE)
    with pytest.raises(InputError) as raised:
        require_memory([InputFile("RC.zst", 250 * 10**9)], **ASKED)
    message = str(raised.value)
    assert "250.0 GB of dumps need 3.5 to 17.6 GB of memory in 3 processes" in message
    assert "this machine has 2.0 GB free" in message
    assert "--direct_num_workers" in message
    assert "--runner=FlinkRunner" in message
    assert "\n" not in message


def test_the_command_refuses_before_it_writes_and_an_engine_is_not_asked(
    fails, run, world, tmp_path, free, monkeypatch
):
    free(100 * MEGABYTE)
    command = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    assert "--direct_num_workers" in fails(*command)
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr("data_pipeline.job.run.is_local", lambda _: False)
    run(*command)
    assert (tmp_path / "out" / "COMPLETED").exists()
