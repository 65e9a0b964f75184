"""What the command says when an engine fails."""

import pytest
from apache_beam.options.pipeline_options import StandardOptions

from common.errors import InputError
from data_pipeline.execution.runner import LOCAL_RUNNER, cause_of, is_local, pipeline_options

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
CAUSED = """java.util.concurrent.ExecutionException: it failed
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: org.apache.flink.runtime.rest.util.RestClientException: Could not submit
\tat org.apache.flink.X
"""


GRPC = """<_MultiThreadedRendezvous of RPC that terminated with:
\tstatus = StatusCode.UNAVAILABLE
\tdetails = "Socket closed"
\tdebug_error_string = "UNKNOWN:Error received from peer"
>
"""


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (PYTHON, "ModuleNotFoundError: No module named 'x' [while running 'Read lines']"),
        (JAVA, "OSError: [Errno 5] Input/output error"),
        (CAUSED, "org.apache.flink.runtime.rest.util.RestClientException: Could not submit"),
        (GRPC, "Socket closed"),
        ("Service failed to start up with error 1", "Service failed to start up with error 1"),
        ("", "no reason given"),
    ],
)
def test_the_cause_is_one_line_of_the_account(failure, cause):
    assert cause_of(failure) == cause


def test_an_engine_that_cannot_be_started_is_one_error(fails, world, tmp_path):
    source = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    message = fails(*source, "--runner=FlinkRunner", "--flink_job_server_jar=/nowhere.jar")
    assert "the job stopped: " in message
    assert "/nowhere.jar" in message


@pytest.mark.parametrize("name", ["DirectRunner", "directrunner", "direct", "FnApiRunner"])
def test_the_direct_runner_is_the_local_one(name):
    options = pipeline_options([f"--runner={name}"])
    assert is_local(options)
    assert options.view_as(StandardOptions).runner == LOCAL_RUNNER
    with pytest.raises(InputError, match="unknown option --speed"):
        pipeline_options([f"--runner={name}", "--speed=9"])


def test_an_engine_is_not_local():
    assert not is_local(pipeline_options(["--runner=FlinkRunner"]))


def test_an_option_that_neither_beam_nor_the_engine_knows_is_refused():
    def of_the_engine(parser):
        parser.add_argument("--object_reuse", action="store_true")

    pipeline_options(["--runner=flinkrunner", "--object_reuse"])
    options = pipeline_options(["--runner=FlinkRunner", "--object_reuse", "--min_scor=5"])
    with pytest.raises(InputError, match="unknown option --min_scor; accepted: the ones that"):
        options.get_all_options(add_extra_args_fn=of_the_engine)
    for runner in ("PrismRunner", "DataflowRunner"):
        with pytest.raises(InputError, match="unknown option --min_scor"):
            pipeline_options([f"--runner={runner}", "--min_scor=5"])
