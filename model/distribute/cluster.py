"""The part that this process has in a cluster, as TF_CONFIG says.

Under the parameter server's strategy only the chief runs the job; workers and parameter servers
serve it until they are told to stop (TERM). Under multi-worker mirrored all workers run the job.
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
from official.core import config_definitions

from model.errors import InputError

PARAMETER_SERVER = "parameter_server"
_SERVERS = ("worker", "ps")
_CONFIG = "TF_CONFIG"
_END_SECONDS = 5.0


def serves(runtime: config_definitions.RuntimeConfig) -> bool:
    """Whether this process only serves the chief's job."""
    return runtime.distribution_strategy == PARAMETER_SERVER and _resolver().task_type in _SERVERS


def serve() -> None:
    """Serves until TERM or INT."""
    resolver = _resolver()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    # It works in threads of its own; its join() would keep signals from us.
    tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol=resolver.rpc_layer or "grpc",
    )
    print(f"{resolver.task_type} {resolver.task_id} serves", flush=True)
    while not stop.wait(0.5):
        pass


def require_whole(runtime: config_definitions.RuntimeConfig) -> None:
    """Makes sure that the cluster has what the parameter server's strategy needs.

    Raises:
      InputError: if TF_CONFIG names no cluster, or one without servers.
    """
    if runtime.distribution_strategy != PARAMETER_SERVER:
        return
    spec = _resolver().cluster_spec()
    missing = {"chief", "worker", "ps"} - set(spec.jobs)
    if missing:
        raise InputError(
            "runtime.distribution_strategy: parameter_server needs a TF_CONFIG that names chief, "
            f"worker and ps; {', '.join(sorted(missing))} missing"
        )


@contextmanager
def term_stays_ours() -> Iterator[None]:
    """Takes away the handler of TERM that TensorFlow installs when it joins a cluster.

    That one does nothing that helps here. What comes while others are waited for is lost.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def named_in(message: str) -> str | None:
    """The process that a message of TensorFlow's names first, such as `worker 1`."""
    found = re.search(r"/job:(\w+)/(?:replica:\d+/)?task:(\d+)", message)
    return f"{found[1]} {found[2]}" if found else None


def leave(status: int) -> NoReturn:
    """Ends the process; in a cluster without TensorFlow's own end, which waits for those gone."""
    if not os.environ.get(_CONFIG):
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    last = threading.Timer(_END_SECONDS, os._exit, [status])
    last.daemon = True
    last.start()
    atexit._run_exitfuncs()  # else hundreds of small files stay in the folder for temporary ones
    os._exit(status)


def _resolver() -> tf.distribute.cluster_resolver.TFConfigClusterResolver:
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    try:
        _ = resolver.cluster_spec(), resolver.task_type, resolver.task_id
    except (TypeError, ValueError) as error:
        raise InputError(f"{_CONFIG} describes no cluster: {error}") from error
    return resolver
