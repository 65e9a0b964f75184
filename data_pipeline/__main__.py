"""The commands of the package; each calls the public function of `data_pipeline` that it names.

python -m data_pipeline sample --output DIR [--comments N] [--seed S]
python -m data_pipeline reddit --input 'GLOB[,GLOB...]' --output DIR [...]
python -m data_pipeline snli --input snli_1.0_train.jsonl.gz --output DIR [--shards N]
python -m data_pipeline vocabulary --input 'pairs/train-*' --output DIR [--min_count N] [...]
"""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from data_pipeline.errors import InputError
from data_pipeline.execution.interrupts import run_until_interrupted

_WITHOUT_BEAM = ("sample", "snli")
"""Commands that take no options of Beam's."""
_UNUSED = ("pandas", "pymongo")
"""What Beam imports where it is installed and these commands do not use: a fifth of the time that
Beam takes to import."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command; an error that the user can fix is one line and exit status 1."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("data_pipeline").setLevel(logging.INFO)
    parser = _parser()
    arguments, beam_arguments = parser.parse_known_args(argv)
    try:
        if beam_arguments and arguments.command in _WITHOUT_BEAM:
            raise InputError(f"unknown arguments: {' '.join(beam_arguments)}")
        _run(arguments, beam_arguments)
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")


def _parser() -> argparse.ArgumentParser:
    # On import Beam warns of every cloud whose client is not installed.
    logging.disable(logging.WARNING)
    with _left_out(_UNUSED):
        from data_pipeline import sample
        from data_pipeline.reddit import options
        from data_pipeline.snli import command as snli
        from data_pipeline.vocabulary import command as vocabulary
    logging.disable(logging.NOTSET)
    parser = argparse.ArgumentParser(prog="python -m data_pipeline", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    beam = "Any Beam pipeline option is accepted too, such as --runner=FlinkRunner."
    texts = {
        "reddit": "Reddit dumps -> TFRecord pairs",
        "snli": "SNLI files -> TFRecord pairs with labels",
        "vocabulary": "pair files -> counts of their words and bigrams",
        "sample": "make a sample world",
    }
    parsers = {
        name: commands.add_parser(
            name,
            allow_abbrev=False,
            help=text,
            epilog=None if name in _WITHOUT_BEAM else beam,
        )
        for name, text in texts.items()
    }
    for name, inputs in (
        ("reddit", "comment dumps, plain, .gz, .bz2, .xz or .zst, local or on a Beam filesystem"),
        ("snli", "SNLI's .jsonl or .txt files, plain, .gz, .bz2, .xz or .zst"),
        ("vocabulary", "output files of reddit or snli: .tfrecord, .jsonl or .parquet"),
    ):
        _add_common_arguments(parsers[name], inputs=inputs)
    options.add_arguments(parsers["reddit"])
    snli.add_arguments(parsers["snli"])
    vocabulary.add_arguments(parsers["vocabulary"])
    _add_sample_arguments(parsers["sample"], comments=sample.DEFAULT_COMMENTS)
    return parser


@contextmanager
def _left_out(modules: Sequence[str]) -> Iterator[None]:
    """Makes modules that are not imported yet look like ones that are not installed."""
    absent = [name for name in modules if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def _add_common_arguments(parser: argparse.ArgumentParser, *, inputs: str) -> None:
    """Declares `--input`, described by `inputs`, `--output` and `--overwrite`."""
    parser.add_argument(
        "--input",
        required=True,
        nargs="+",  # for a pattern that the shell has already expanded
        metavar="GLOB[,GLOB...]",
        help=inputs,
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the output of another job"
    )


def _add_sample_arguments(parser: argparse.ArgumentParser, *, comments: int) -> None:
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--comments",
        type=int,
        default=comments,
        metavar="N",
        help="comments in the dump, millions for load tests; default: %(default)s",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="default: %(default)s")


def _run(arguments: argparse.Namespace, beam_arguments: list[str]) -> None:
    """Calls the command's function; its parameters have the names of the flags."""
    import data_pipeline
    from data_pipeline.execution.acceptance import Limits, limits_of

    given = vars(arguments)
    output = given.pop("output")
    match given.pop("command"):
        case "sample":
            data_pipeline.write_sample(output, **given)
        case "reddit":
            result = data_pipeline.run_reddit(
                arguments.input,
                output,
                options=data_pipeline.RedditOptions.of(arguments),
                cache=arguments.cache,
                overwrite=arguments.overwrite,
                beam_arguments=beam_arguments,
            )
            result.print(more=f"; {result.folder}/data_card.html describes it")
        case "snli":
            limits = limits_of(arguments)
            rest = {name: value for name, value in given.items() if name not in Limits._fields}
            data_pipeline.run_snli(rest.pop("input"), output, limits=limits, **rest).print()
        case "vocabulary":
            given["beam_arguments"] = beam_arguments
            data_pipeline.count_vocabulary(given.pop("input"), output, **given).print()


if __name__ == "__main__":
    run_until_interrupted(main)
