"""Writes RESULTS.md: a table of what became of the mutants, and every survivor with its reason.

Ends with status 1 if a group has less than 90% caught, or a survivor no reason in `reasons.toml`.
"""

import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

from constants import CALLED_AT_IMPORT, RESULTS
from mutmut.configuration import config
from mutmut.mutation.diff_apply import get_diff_for_mutant

HERE = Path(__file__).parent
SURVIVED = (0, 5, 33)
"""Exit statuses: the tests passed, or there were none."""
LEAST = 0.9


def change(name: str, path: Path) -> str:
    """The lines that a mutant takes out and puts in."""
    lines = get_diff_for_mutant(name, path=path).splitlines()[2:]
    return "\n".join(f"{line[0]}{line[1:].strip()}" for line in lines if line[:1] in "+-")


def module(path: str, constants: dict) -> tuple[int, list[str]]:
    """How many mutants of a module there were, and the changes that survived."""
    meta = json.loads(Path("mutants", f"{path}.meta").read_text())["exit_code_by_key"]
    again = tuple(f".x_{function}__mutmut_" for function in CALLED_AT_IMPORT)
    codes = {name: code for name, code in meta.items() if not any(part in name for part in again)}
    alive = [change(name, Path(path)) for name, code in codes.items() if code in SURVIVED]
    alive += [f"-{was}\n+{now}" for of, was, now in constants["survived"] if of == path]
    return len(codes) + constants["mutants"][path], alive


def reason_of(survivor: str, reasons: list[dict]) -> str | None:
    """The first reason one of whose patterns is found in the change."""
    for reason in reasons:
        if any(re.search(pattern, survivor) for pattern in reason["changes"]):
            return reason["why"]
    return None


def listed(alive: list[str], reasons: list[dict]) -> list[str]:
    """Lines of Markdown: by reason, the code that was changed and how often it survived."""
    by_reason: dict[str, Counter] = {}
    for survivor in alive:
        why = reason_of(survivor, reasons)
        shown = survivor.split("\n+")[0].lstrip("-").replace("\n-", " ")
        if why is None:
            why, shown = "NO REASON YET", survivor.replace("\n", " ")
        by_reason.setdefault(why, Counter())[shown] += 1
    return [
        f"- {why}\n" + "\n".join(f"  - {times} x `{shown}`" for shown, times in found.items())
        for why, found in by_reason.items()
    ]


def main() -> None:
    """Writes the page and says what is wrong."""
    constants = json.loads(RESULTS.read_text())
    known = tomllib.loads((HERE / "reasons.toml").read_text())
    found = {path: module(path, constants) for path in config().only_mutate}
    rows, wrong = [], []
    groups = known["groups"] | {"all": list(found)}
    for group, paths in groups.items():
        count = sum(found[path][0] for path in paths)
        caught = count - sum(len(found[path][1]) for path in paths)
        files = "" if group == "all" else ", ".join(f"`{path}`" for path in paths)
        rows.append(f"| {group} | {files} | {count} | {caught} | {100 * caught / count:.1f}% |")
        if caught < LEAST * count:
            wrong.append(f"of {group} only {caught} of {count} were caught")
    lists = [
        f"\n### `{path}`\n\n" + "\n".join(listed(alive, known["reason"]))
        for path, (_, alive) in found.items()
        if alive
    ]
    sample = constants["sample"]
    page = (HERE / "page.md").read_text()
    page = page.format(
        rows="\n".join(rows),
        survivors="\n".join(lists),
        constants=f"{sample} of them in each module, drawn by a seed" if sample else "all of them",
    )
    (HERE / "RESULTS.md").write_text(page)
    wrong += ["a survivor has no reason"] * ("NO REASON YET" in page)
    print("\n".join(["-> tests/mutation/RESULTS.md", *rows]))
    sys.exit("\n".join(f"error: {line}" for line in wrong) or 0)


if __name__ == "__main__":
    main()
