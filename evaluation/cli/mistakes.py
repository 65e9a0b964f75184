"""`mistakes`: where a module is wrong: errors by kind of text, and the worst items."""

import argparse
import time
from pathlib import Path

from evaluation.cli import options

TEXTS = "mistakes.md"


def add(commands) -> None:
    """Add the command `mistakes`."""
    summary = "where a module is wrong: errors by kind of text, the worst pairs"
    parser = options.command(commands, "mistakes", run, summary=summary)
    parser.add_argument("--module", metavar="DIR|URL", required=True, help=options.MODULE_HELP)
    parser.add_argument("--sts", type=Path, metavar="DATA", help="as --data of sts")
    parser.add_argument(
        "--response_ranking", type=Path, metavar="DATA", help="as --data of response_ranking"
    )
    options.folder_output(parser, help=f"folder for the result files and {TEXTS}")
    options.candidates(parser)
    options.seeded(parser)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Compute, write and print."""
    from evaluation.analysis import mistakes
    from evaluation.data import ranking_files, sts_files
    from evaluation.data.files import write_whole
    from evaluation.encoders.saved_model import load_encoder
    from evaluation.errors import InputError
    from evaluation.report import markdown_page
    from evaluation.results import store
    from evaluation.results.result import stamped
    from evaluation.results.text import printed
    from evaluation.tasks import response_ranking, sts

    if not (arguments.sts or arguments.response_ranking):
        raise InputError("no data: one or both of --sts, --response_ranking")
    if arguments.candidates != options.CANDIDATES and not arguments.response_ranking:
        raise InputError("--candidates: accepted with --response_ranking, which is missing")
    similar = sts_files.find(arguments.sts) if arguments.sts else []
    ranked = ranking_files.find(arguments.response_ranking) if arguments.response_ranking else []
    pairs = {source: sts_files.read(source) for source in similar}  # before the slow load
    conversations = {source: ranking_files.read(source) for source in ranked}
    settings = {"candidates": arguments.candidates}
    for data in conversations.values():
        response_ranking.check(data, **settings)
    encoder = load_encoder(arguments.module)
    results = []
    for source in (*similar, *ranked):
        started = time.perf_counter()
        if source in pairs:
            found = mistakes.of_sts(sts.evaluate(encoder, pairs[source]), seed=arguments.seed)
        else:
            found = mistakes.of_ranking(
                encoder, conversations[source], seed=arguments.seed, **settings
            )
        found = stamped(
            found,
            data=source.provenance(),
            module=encoder.provenance(),
            command=command,
            seconds=time.perf_counter() - started,
        )
        store.write(found, arguments.output)
        print(f"{printed(found)}\n")
        results.append(found)
    write_whole(arguments.output / TEXTS, markdown_page.mistakes(results))
    print(f"-> {arguments.output / TEXTS}")
