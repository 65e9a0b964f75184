"""Beam's options, the number of processes, and what the command says when a job fails."""

import os

import pytest

from common.errors import InputError
from data_pipeline.execution.runner import cause_of, choose_workers, is_local, pipeline_options

PYTHON = """Pipeline job-001 failed in state FAILED: Traceback (most recent call last):
  File "common.py", line 1512, in process
ModuleNotFoundError: No module named 'x'

During handling of the above exception, another exception occurred:

ModuleNotFoundError: No module named 'x' [while running 'Read lines']
"""
JAVA = """Pipeline job failed in state FAILED: java.lang.RuntimeException: Error received:
Traceback (most recent call last):
  File "dumps.py", line 3, in read
OSError: [Errno 5] Input/output error

\tat org.apache.beam.runners.Something(Something.java:1)
"""
GRPC = """<_MultiThreadedRendezvous of RPC that terminated with:
\tstatus = StatusCode.UNAVAILABLE
\tdetails = "Socket closed"
>
"""


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (PYTHON, "ModuleNotFoundError: No module named 'x' [while running 'Read lines']"),
        (JAVA, "OSError: [Errno 5] Input/output error"),
        (GRPC, "Socket closed"),
        ("Service failed to start up with error 1", "Service failed to start up with error 1"),
    ],
)
def test_the_cause_is_one_line_of_the_account(failure, cause):
    assert cause_of(failure) == cause


def test_an_engine_that_cannot_be_started_is_one_error(refused, world, tmp_path):
    engine = ("--runner=FlinkRunner", "--flink_job_server_jar=/nowhere.jar")
    assert "/nowhere.jar" in refused("reddit", "--input", f"{tmp_path}/RC_*", *engine)


@pytest.mark.parametrize("arguments", [[], ["--runner=DirectRunner"], ["--runner=direct"]])
def test_the_direct_runner_is_the_local_one(arguments):
    assert is_local(pipeline_options(arguments))
    assert not is_local(pipeline_options(["--runner=FlinkRunner"]))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--speed=9"],
        ["--speed=9", "--runner=DataflowRunner"],
        ["stray"],
        ["stray", "--runner=FlinkRunner"],
        ["RC_2", "--direct_num_workers=1"],
        ["--direct_num_workers=-1"],
        ["--s3_secret_access_key=x"],  # which logs would show
    ],
)
def test_wrong_arguments_are_named(arguments):
    for given in (arguments, arguments[::-1]):
        with pytest.raises(InputError, match=arguments[0].strip("-").partition("=")[0]):
            pipeline_options(given)


def test_an_option_that_neither_beam_nor_the_engine_knows_is_refused():
    def of_the_engine(parser):
        parser.add_argument("--object_reuse", action="store_true")

    options = pipeline_options(["--runner=FlinkRunner", "--object_reuse", "--min_scor=5"])
    with pytest.raises(InputError, match="min_scor"):
        options.get_all_options(add_extra_args_fn=of_the_engine)


@pytest.mark.parametrize(
    ("arguments", "megabytes", "workers"),
    [
        ([], 1, 1),
        ([], 1000, len(os.sched_getaffinity(0))),
        (["--direct_num_workers=3"], 1000, 1),  # threads of one process
        (["--direct_num_workers=3", "--direct_running_mode=multi_processing"], 1, 3),
        (["--runner=FlinkRunner"], 1000, 0),
    ],
)
def test_large_inputs_take_all_cores(arguments, megabytes, workers):
    options = pipeline_options(arguments)
    assert choose_workers(options, arguments, stored_bytes=megabytes << 20) == workers
