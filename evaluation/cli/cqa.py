"""`cqa`: table 6.

python -m evaluation cqa --module DIR --data PATH --output DIR
"""

import argparse
from functools import cache, partial
from pathlib import Path

from evaluation.cli import options
from evaluation.errors import InputError


def add(commands) -> None:
    """Add the command `cqa`."""
    parser = options.task(
        commands,
        "cqa",
        summary="MAP, AvgRec, MRR on SemEval Task 3, subtask B (table 6)",
        data="an official .xml or .relevancy file, or a folder of them; plain or .gz",
        module=f"{options.MODULE_HELP}; not needed for files without text (.relevancy)",
        needed=False,
    )
    parser.add_argument(
        "--dev",
        type=Path,
        help="question file to choose the thresholds of P, R, F1 and accuracy on; default: the "
        'one in --data with "dev" in its name',
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module, or the search engine where there is no text, on every data set found."""
    from evaluation.data.files import without_gz, write_whole
    from evaluation.results import runs
    from evaluation.tasks import cqa

    sources = cqa.find(arguments.data)
    data = {source: cqa.read(source) for source in sources}  # before the slow load of the module
    dev = _dev_source(sources, arguments.dev)
    if with_text := [source.name for source in sources if data[source].has_text]:
        if not arguments.module:
            raise InputError(f"{with_text[0]} has questions to rank: --module is needed")
        if arguments.dev and not (data.get(dev) or cqa.read(dev)).has_text:
            raise InputError(f"--dev {arguments.dev}: has no text to choose a threshold on")
    encoder = options.encoder(arguments.module) if arguments.module else None

    @cache
    def chosen() -> dict[str, float]:
        return cqa.thresholds(cqa.evaluate(encoder, data.get(dev) or cqa.read(dev)))

    def compute(source):
        found = cqa.evaluate(encoder, data[source])
        if dev and found.system in chosen():
            return cqa.classified(found, chosen(), dev=dev.name)
        return found

    run = runs.run_of(arguments, command=command)
    named = {s: runs.learned(s, [dev] if dev and dev != s else []) for s in sources}
    modules = {s: encoder.provenance() if encoder and data[s].has_text else None for s in sources}
    for source in sources:
        run.stored(named[source], module=modules[source])
    for source in sources:
        found = run.result(named[source], partial(compute, source), module=modules[source])
        if found.system == "module":
            path = arguments.output / f"{without_gz(source.files[0])}{cqa.PREDICTIONS}"
            write_whole(path, cqa.predictions(found))
            print(f"-> {path}\n")


def _dev_source(sources: list, given: Path | None):
    """Return the source to choose thresholds on, or None."""
    from evaluation.tasks import cqa

    if given:
        found = cqa.find(given)
        if len(found) != 1:
            raise InputError(f"--dev {given}: {len(found)} data sets; one is needed")
        return next((source for source in sources if source == found[0]), found[0])
    return next((source for source in sources if "dev" in source.name.lower()), None)
