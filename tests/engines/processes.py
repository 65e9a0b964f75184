"""Servers for the tests: started with a log file each, awaited, and ended for certain."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

_PATIENCE = 10
"""Seconds that a process has to end by itself."""
_NOT_FOR_CLIENTS = range(20_000, 32_000)
"""Below /proc/sys/net/ipv4/ip_local_port_range, whose ports clients get."""
_CHILDREN: dict[int, subprocess.Popen] = {}
"""What this process started, kept to collect its exit."""


def start(
    *command: object, log: Path, folder: Path, environment: Mapping[str, str] | None = None
) -> int:
    """Starts a server in a process group of its own, so that its children end with it.

    Returns:
      The group.
    """
    with log.open("ab") as stream:
        child = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    _CHILDREN[child.pid] = child
    return child.pid


def stop(*groups: int) -> None:
    """Ends process groups: asks first, then kills."""
    for group in groups:
        _signal(group, signal.SIGTERM)
    limit = time.monotonic() + _PATIENCE
    while time.monotonic() < limit and any(map(is_alive, groups)):
        time.sleep(0.1)
    kill(*groups)


def kill(*groups: int) -> None:
    """Ends process groups at once, as a machine that loses power does."""
    for group in groups:
        _signal(group, signal.SIGKILL)
        if group in _CHILDREN:
            _CHILDREN.pop(group).wait()


def is_alive(group: int) -> bool:
    """Whether any process of a group runs."""
    if group in _CHILDREN:
        _CHILDREN[group].poll()
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, none of which the system gives to a client.

    A port that the system chose itself is not safe: before a server listens there, a client that
    tries to reach it may be given the very port as its own, and connects to itself.
    """
    ports: list[int] = []
    for port in random.sample(_NOT_FOR_CLIENTS, len(_NOT_FOR_CLIENTS)):
        with suppress(OSError), socket.create_server(("localhost", port)):
            ports.append(port)
        if len(ports) == count:
            return ports
    raise OSError(f"no {count} free ports in {_NOT_FOR_CLIENTS}")


def worker_environment(code: Path) -> dict[str, str]:
    """Variables of an engine's worker whose Python workers import this project from a folder."""
    binaries = Path(sys.executable).parent
    return {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(code)}


def python_workers(*groups: int) -> list[int]:
    """The Beam workers in process groups."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(part.endswith("/beam_worker") for part in process.info["cmdline"] or []):
            with suppress(ProcessLookupError):
                found += [process.pid] if os.getpgid(process.pid) in groups else []
    return found


def listens(port: int) -> bool:
    """Whether a server on this machine takes connections at a port."""
    with suppress(OSError), socket.create_connection(("localhost", port), timeout=1):
        return True
    return False


def wait_until(condition: Callable[[], object], *, seconds: float, what: str) -> None:
    """Returns as soon as a condition holds.

    Raises:
      TimeoutError: if it does not within these seconds.
    """
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.1)
