"""`mistakes`: where a module is wrong: errors by kind of text, and the worst items."""

from functools import partial

from common import sts as sts_files
from common.files import write_text
from common.text_files import Source
from evaluation.analysis import mistakes
from evaluation.cli.options import MistakesOptions, command
from evaluation.data import ranking_files
from evaluation.report.pages import mistakes_page
from evaluation.results.evaluation import Evaluation, Store
from evaluation.results.result import Result
from evaluation.tasks import sts

TEXTS = "mistakes.md"


def run(options: MistakesOptions) -> None:
    """Compute, write and print."""
    similar = sts_files.sources(options.sts) if options.sts else []
    ranked = ranking_files.find(options.response_ranking) if options.response_ranking else []
    pairs = {source: sts_files.read(source) for source in similar}
    conversations = {source: ranking_files.read(source) for source in ranked}
    for data in conversations.values():
        ranking_files.blocks(len(data.pairs), options.candidates)  # before the slow load
    from evaluation.encoders.saved_model import load_encoder

    encoder, seed = load_encoder(options.module), options.seed

    def compute(source: Source) -> Result:
        if source in pairs:
            return mistakes.of_sts(sts.evaluate(encoder, pairs[source]), seed=seed)
        data = conversations[source]
        return mistakes.of_ranking(encoder, data, seed=seed, candidates=options.candidates)

    evaluations = [
        Evaluation(
            source=source,
            compute=partial(compute, source),
            module=encoder.provenance(),
            resampled=False,
        )
        for source in (*similar, *ranked)
    ]
    said = command(options, "mistakes")
    results = Store(output=options.output, command=said, again=True).results(evaluations)
    write_text(options.output / TEXTS, mistakes_page(results))
    print(f"-> {options.output / TEXTS}")
