"""The machine that a figure was measured on, and files that are there whole or not at all."""

import datetime
import os
from pathlib import Path


def about() -> str:
    """Its cores, its processor where that is told, and the date."""
    return f"{os.cpu_count()} cores{_processor()}, {datetime.date.today():%-d %B %Y}"


def core_groups(count: int) -> list[str | None]:
    """So many groups of cores, as `taskset -c` takes them; [None], all of them, for one group."""
    cores = sorted(os.sched_getaffinity(0))
    if count == 1:
        return [None]
    return [",".join(map(str, cores[n::count])) for n in range(min(count, len(cores)))]


def write_whole(path: Path, text: str) -> None:
    """Writes a text file aside, then puts it in place."""
    aside = path.with_name(f".{path.name}.new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f" of {names[0]}" if names else ""
