"""The machine that figures were measured on."""

import datetime
import os
from pathlib import Path


def about() -> str:
    """Returns the machine's cores, its processor where known, and the date."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = f" of {names[0]}" if names else ""
    return f"{os.cpu_count()} cores{processor}, {datetime.date.today():%-d %B %Y}"
