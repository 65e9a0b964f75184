"""What every page of figures needs: the machine they were measured on, and a whole file."""

import datetime
import os
from pathlib import Path


def about() -> str:
    """The machine's cores, its processor where known, and the date."""
    return f"{os.cpu_count()} cores{_processor()}, {datetime.date.today():%-d %B %Y}"


def write_whole(path: Path, text: str) -> None:
    """Writes a text file aside, then renames it."""
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
