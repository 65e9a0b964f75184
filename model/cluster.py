"""The role of this process in a cluster, by TF_CONFIG, and the strategy that it trains under.

Under the parameter server strategy only the chief runs the job; workers and parameter servers
serve it until they get TERM. Under multi-worker mirrored all workers run the job.
"""

import atexit
import os
import re
import signal
import sys
import threading
from typing import NoReturn

import tensorflow as tf
from official.common import distribute_utils
from official.core import config_definitions
from official.modeling import performance

from common import processor
from common.errors import InputError, message_of
from model.configs.schema import AUTO, BFLOAT16, PARAMETER_SERVER

_MULTI_WORKER = "multi_worker_mirrored"
_END_SECONDS = 5.0


def serves(runtime: config_definitions.RuntimeConfig) -> bool:
    """Whether this process only serves the chief's job."""
    role = _resolver().task_type
    return runtime.distribution_strategy == PARAMETER_SERVER and role in ("worker", "ps")


def serve(runtime: config_definitions.RuntimeConfig) -> None:
    """Serves until TERM or INT.

    Raises:
      InputError: if a worker's machine has too few GPUs, or TF_CONFIG gives this process no place.
    """
    resolver = _resolver()
    _show_gpus(runtime.num_gpus if resolver.task_type == "worker" else 0)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    name = f"{resolver.task_type} {resolver.task_id}"
    # On one core TensorFlow takes one thread: a worker would wait for a server for ever.
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", str(max(2, os.cpu_count() or 1)))
    # It runs in its own threads; its join() would block signals.
    try:
        tf.distribute.Server(
            resolver.cluster_spec(),
            job_name=resolver.task_type,
            task_index=resolver.task_id,
            protocol=resolver.rpc_layer or "grpc",
        )
    except tf.errors.OpError as error:
        raise InputError(f"TF_CONFIG: {name} cannot serve: {error.message}") from error
    print(f"{name} serves", flush=True)
    while not stop.wait(0.5):
        pass


def strategy(runtime: config_definitions.RuntimeConfig) -> tf.distribute.Strategy:
    """The strategy of a run; to be made first of all, since it configures the devices.

    Raises:
      InputError: if TF_CONFIG does not fit the strategy, or the machine has too few GPUs.
      ValueError: if there is no such strategy.
    """
    _require_cluster(runtime.distribution_strategy)
    # With parameter servers, the workers have the GPUs, and this is the chief.
    _show_gpus(0 if runtime.distribution_strategy == PARAMETER_SERVER else runtime.num_gpus)
    if dtype := layers_dtype(runtime):
        performance.set_mixed_precision_policy(dtype)
    # No handler of Python runs while TensorFlow waits for the others; by default TERM ends the
    # process. When TensorFlow joins them, it installs a handler that would not stop training.
    handler = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        return distribute_utils.get_distribution_strategy(
            distribution_strategy=runtime.distribution_strategy, num_gpus=runtime.num_gpus
        )
    finally:
        signal.signal(signal.SIGTERM, handler)


def layers_dtype(runtime: config_definitions.RuntimeConfig) -> str | None:
    """What layers compute in; None is float32. Says what `auto` has chosen."""
    if runtime.mixed_precision_dtype != AUTO:
        return runtime.mixed_precision_dtype
    dtype = BFLOAT16 if processor.has_bfloat16() and not runtime.num_gpus else None
    print(f"layers compute in {dtype or 'float32'} (runtime.mixed_precision_dtype={AUTO})")
    return dtype


def _require_cluster(strategy: str) -> None:
    """Raises InputError unless TF_CONFIG has what the strategy needs."""
    jobs = _resolver().cluster_spec().as_dict()
    role, processes = _resolver().task_type, sum(map(len, jobs.values()))
    if strategy == _MULTI_WORKER and processes < 2:
        print(f"{strategy} without a TF_CONFIG of several processes: this one trains alone")
    if strategy in ("one_device", "mirrored") and processes > 1:
        raise InputError(
            f"runtime.distribution_strategy: {strategy!r} trains on one machine, and TF_CONFIG "
            f"names {processes} processes; accepted with it: {_MULTI_WORKER}, {PARAMETER_SERVER}"
        )
    is_chief = role == "chief" and {"chief", "worker", "ps"} <= jobs.keys()
    if strategy == PARAMETER_SERVER and not is_chief:
        raise InputError(
            f"TF_CONFIG: {role!r} of {', '.join(jobs) or 'no cluster'}; accepted with "
            f"runtime.distribution_strategy={strategy}: chief, worker and ps"
        )


def _show_gpus(number: int) -> None:
    """Lets TensorFlow see that many GPUs: some strategies take all that they see.

    Raises:
      InputError: if there are fewer, or this process has used others before.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if number > len(gpus):
        # TensorFlow would train on the CPU and say nothing.
        raise InputError(
            f"runtime.num_gpus: {number}; accepted: at most the GPUs that TensorFlow finds on this "
            f"machine ({len(gpus)}); 0 trains on the CPU"
        )
    try:
        tf.config.set_visible_devices(gpus[:number], "GPU")
    except RuntimeError as error:
        raise InputError(f"runtime.num_gpus: {number}: {message_of(error)}") from error


def named_in(message: str) -> str | None:
    """The first process besides this one that a message of TensorFlow names, such as `worker 1`."""
    named = re.findall(r"/job:(\w+)/(?:replica:\d+/)?task:(\d+)", message)
    itself = (_resolver().task_type, str(_resolver().task_id))
    peers = [f"{job} {task}" for job, task in named if (job, task) != itself]
    return peers[0] if peers else None


def reason(error: tf.errors.OpError) -> str:
    """An error of TensorFlow in one line."""
    name, peer = type(error).__name__, named_in(error.message)
    if peer and isinstance(error, tf.errors.UnavailableError | tf.errors.AbortedError):
        return f"{peer} does not answer ({name})"
    # The reason comes after "(0)" or, without that, after a traceback of the graph's operations.
    found = re.search(r"\(0\) *(.*)", error.message) or re.search(
        r"^(?! *$|Graph execution error:|Detected at |  File )(.*)", error.message, re.MULTILINE
    )
    return f"a step failed: {name}: {found[1] if found else ''}"


def leave(status: int) -> NoReturn:
    """Ends the process; in a cluster without TensorFlow's shutdown, which waits for dead peers."""
    if not os.environ.get("TF_CONFIG"):
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    last = threading.Timer(_END_SECONDS, os._exit, [status])
    last.daemon = True
    last.start()
    atexit._run_exitfuncs()  # otherwise hundreds of temporary files are left
    os._exit(status)


def _resolver() -> tf.distribute.cluster_resolver.TFConfigClusterResolver:
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    try:
        _ = resolver.cluster_spec(), resolver.task_type, resolver.task_id
    except (TypeError, ValueError) as error:
        raise InputError(f"TF_CONFIG describes no cluster: {error}") from error
    return resolver
