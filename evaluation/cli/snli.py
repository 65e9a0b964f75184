"""`snli`: table 2.

python -m evaluation snli --module DIR --data PATH --output DIR
"""

import argparse
from functools import cache, partial
from pathlib import Path

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `snli`."""
    parser = options.task(
        commands,
        "snli",
        summary="accuracy on SNLI (table 2)",
        data="folder of SNLI's files (*dev*, *test*; *train* where the module has no head), or "
        "one of them; .jsonl or .txt, plain or .gz",
    )
    for split in ("train", "dev"):
        parser.add_argument(
            f"--{split}",
            type=Path,
            help=f"{split} file for the classifier of a module without classify_nli; "
            "default: the one in --data",
        )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score dev and test, or the one file."""
    from evaluation.data import snli_files
    from evaluation.encoders import pair_signatures
    from evaluation.results import runs
    from evaluation.tasks import snli

    found = snli_files.find(arguments.data)
    one_file = len(found) == 1 and arguments.data.is_file()
    scored = [found[name] for name in found if one_file or name in ("dev", "test")]
    data = {source.name: snli_files.read(source) for source in scored}
    learn = [
        snli_files.only(given, option=f"--{split}") if given else found.get(split)
        for split, given in (("train", arguments.train), ("dev", arguments.dev))
    ]
    encoder = options.encoder(arguments.module)
    own_head = pair_signatures.has(encoder, pair_signatures.CLASSIFY_NLI)
    training = [source for source in learn if source] if not own_head else []

    @cache
    def classifier():
        if len(training) < 2:
            return None
        from evaluation.tasks import nli_classifier

        train, dev = map(snli_files.read, training)
        return nli_classifier.train(
            encoder, train, dev, held_out=data.values(), seed=arguments.seed
        )

    run = runs.run_of(arguments, command=command)
    learned = [runs.learned(source, training if len(training) == 2 else []) for source in scored]
    for source in learned:
        run.stored(source, module=encoder.provenance())
    for source in learned:
        run.result(
            source,
            partial(_evaluate, snli, encoder, data[source.name], classifier),
            module=encoder.provenance(),
        )


def _evaluate(snli, encoder, data, classifier):
    """Train, if that is needed, only once a result is missing."""
    return snli.evaluate(encoder, data, classifier=classifier())
