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
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import tensorflow as tf
import tf_keras
from official.common import distribute_utils
from official.core import config_definitions
from official.modeling import performance

from model.errors import InputError

PARAMETER_SERVER = "parameter_server"
_SERVERS = ("worker", "ps")
_CONFIG = "TF_CONFIG"
_END_SECONDS = 5.0
_NO_REASON = re.compile(r" *$|Graph execution error:|Detected at |  File ")
"""Lines before the reason in TensorFlow's errors."""
_MULTI_WORKER = "multi_worker_mirrored"
_OF_ONE_MACHINE = ("one_device", "mirrored")


def serves(runtime: config_definitions.RuntimeConfig) -> bool:
    """Whether this process only serves the chief's job."""
    return runtime.distribution_strategy == PARAMETER_SERVER and _resolver().task_type in _SERVERS


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
    # It runs in its own threads; its join() would block signals.
    try:
        tf.distribute.Server(
            resolver.cluster_spec(),
            job_name=resolver.task_type,
            task_index=resolver.task_id,
            protocol=resolver.rpc_layer or "grpc",
        )
    except tf.errors.OpError as error:
        raise InputError(
            f"TF_CONFIG: {resolver.task_type} {resolver.task_id} cannot serve: {error.message}"
        ) from error
    print(f"{resolver.task_type} {resolver.task_id} serves", flush=True)
    while not stop.wait(0.5):
        pass


@contextmanager
def settings_restored() -> Iterator[None]:
    """Restores at the end what `strategy` sets for the whole process: precision and XLA."""
    policy, jit = tf_keras.mixed_precision.global_policy(), tf.config.optimizer.get_jit()
    try:
        yield
    finally:
        tf_keras.mixed_precision.set_global_policy(policy)
        tf.config.optimizer.set_jit(jit)


def strategy(runtime: config_definitions.RuntimeConfig) -> tf.distribute.Strategy:
    """The strategy of a run; to be made first of all, since it configures the devices.

    Raises:
      InputError: if TF_CONFIG does not fit the strategy, or the machine has too few GPUs.
      ValueError: if there is no such strategy.
    """
    require_whole(runtime)
    # With parameter servers, the workers have the GPUs, and this is the chief.
    _show_gpus(0 if runtime.distribution_strategy == PARAMETER_SERVER else runtime.num_gpus)
    if runtime.enable_xla:
        tf.config.optimizer.set_jit("autoclustering")  # leaves collectives as they are
    if runtime.mixed_precision_dtype:
        performance.set_mixed_precision_policy(runtime.mixed_precision_dtype)
    with _term_stays_ours():
        return distribute_utils.get_distribution_strategy(
            distribution_strategy=runtime.distribution_strategy,
            num_gpus=runtime.num_gpus,
            all_reduce_alg=runtime.all_reduce_alg,
            tpu_address=runtime.tpu,
        )


def require_whole(runtime: config_definitions.RuntimeConfig) -> None:
    """Checks that the cluster has what the strategy needs.

    Raises:
      InputError: if TF_CONFIG names no cluster for parameter servers, one without servers, or
        several processes that this strategy does not bring together.
    """
    name = runtime.distribution_strategy
    spec = _resolver().cluster_spec()
    processes = sum(len(tasks) for tasks in spec.as_dict().values())
    if name == _MULTI_WORKER and processes < 2:
        print(
            f"runtime.distribution_strategy: {name} without a TF_CONFIG of several processes: this "
            "one trains alone"
        )
    if name in _OF_ONE_MACHINE and processes > 1 and _resolver().task_type != "evaluator":
        raise InputError(
            f"runtime.distribution_strategy: {name!r} trains on one machine, and TF_CONFIG names "
            f"{processes} processes; accepted with it: {_MULTI_WORKER}, {PARAMETER_SERVER}"
        )
    if name != PARAMETER_SERVER:
        return
    if _resolver().task_type == "evaluator":
        raise InputError(
            "TF_CONFIG: parameter servers have no evaluator; accepted: chief, worker and ps, and "
            "--mode continuous_eval without TF_CONFIG"
        )
    missing = {"chief", "worker", "ps"} - set(spec.jobs)
    if missing:
        raise InputError(
            "runtime.distribution_strategy: parameter_server needs a TF_CONFIG that names chief, "
            f"worker and ps; {', '.join(sorted(missing))} missing"
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
        raise InputError(
            f"runtime.num_gpus: {number}; this process already uses another number of GPUs: start "
            "a new one"
        ) from error


@contextmanager
def _term_stays_ours() -> Iterator[None]:
    """Removes the handler of TERM that TensorFlow installs when it joins a cluster.

    It would not stop training. A signal that arrives while others are waited for is lost.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


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
    root = re.search(r"\(0\) *(.*)", error.message)
    if root:
        return f"a step failed: {name}: {root[1]}"
    lines = [line for line in error.message.splitlines() if not _NO_REASON.match(line)]
    return f"a step failed: {name}: {' '.join(lines[:1])}"


def leave(status: int) -> NoReturn:
    """Ends the process; in a cluster without TensorFlow's shutdown, which waits for dead peers."""
    if not os.environ.get(_CONFIG):
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
        raise InputError(f"{_CONFIG} describes no cluster: {error}") from error
    return resolver
