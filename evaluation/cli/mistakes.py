"""`mistakes`: where a module is wrong: errors by kind of text, and the worst items."""

import time

from common import sts as sts_files
from common.files import claim, write_text
from evaluation.analysis import mistakes
from evaluation.cli.options import MistakesOptions, command
from evaluation.data import ranking_files
from evaluation.data.origin import provenance
from evaluation.report import mistakes_page
from evaluation.results import store
from evaluation.results.result import stamped
from evaluation.results.text import printed
from evaluation.tasks import sts

TEXTS = "mistakes.md"


def run(options: MistakesOptions) -> None:
    """Compute, write and print."""
    with claim(options.output, name=".mistakes.claim"):
        _run(options)


def _run(options: MistakesOptions) -> None:
    similar = sts_files.sources(options.sts) if options.sts else []
    ranked = ranking_files.find(options.response_ranking) if options.response_ranking else []
    pairs = {source: sts_files.read(source) for source in similar}
    conversations = {source: ranking_files.read(source) for source in ranked}
    for data in conversations.values():
        ranking_files.blocks(len(data.pairs), options.candidates)  # before the slow load
    from evaluation.encoders.saved_model import load_encoder

    encoder = load_encoder(options.module)
    results = []
    for source in (*similar, *ranked):
        started = time.perf_counter()
        if source in pairs:
            result = mistakes.of_sts(sts.evaluate(encoder, pairs[source]), seed=options.seed)
        else:
            result = mistakes.of_ranking(
                encoder,
                conversations[source],
                seed=options.seed,
                candidates=options.candidates,
            )
        result = stamped(
            result,
            data=provenance(source),
            module=encoder.provenance(),
            command=command(options, "mistakes"),
            seconds=time.perf_counter() - started,
        )
        store.write(result, options.output)
        print(f"{printed(result)}\n")
        results.append(result)
    write_text(options.output / TEXTS, mistakes_page.page(results))
    print(f"-> {options.output / TEXTS}")
