"""The commands of the package; each calls the public function of `data_pipeline` that it names.

python -m data_pipeline reddit --input 'GLOB[,GLOB...]' --output DIR [...]
python -m data_pipeline conversations --input 'GLOB' --output DIR --text_field NAME [...]
python -m data_pipeline pairs --input 'GLOB' --output DIR --input_field NAME --response_field NAME
python -m data_pipeline snli --input snli_1.0_train.jsonl.gz --output DIR [--shards N]
python -m data_pipeline vocabulary --input 'pairs/train-*' --output DIR [--min_count N] [...]
python -m data_pipeline sample --output DIR [--comments N] [--seed S]
"""

import argparse
import importlib
import logging
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from common.command_line import Options, add_options
from common.errors import InputError
from data_pipeline.execution.interrupts import run_until_interrupted

if TYPE_CHECKING:
    from data_pipeline.job.run import Prepare

_WITHOUT_BEAM = ("sample", "snli")
"""Commands that take no options of Beam's."""
_PAIRING = ("reddit", "conversations", "pairs")
"""Commands that make pairs of messages."""
_TABLES = ".jsonl, .csv or .tsv, plain, .gz, .bz2, .xz or .zst; or .parquet"
_INPUTS = {
    "reddit": "comment dumps, plain, .gz, .bz2, .xz or .zst, local or on a Beam filesystem",
    "conversations": _TABLES,
    "pairs": _TABLES,
    "snli": "SNLI's .jsonl or .txt files, plain, .gz, .bz2, .xz or .zst",
    "vocabulary": "pair files: .tfrecord, .jsonl or .parquet",
}
_TEXTS = {
    "reddit": "make input-response pairs from Reddit comment dumps",
    "conversations": "make input-response pairs from any messages: JSON lines, CSV, TSV or Parquet",
    "pairs": "make input-response pairs from tables that have a pair in each row",
    "snli": "convert SNLI's files into labelled pairs of sentences, as TFRecord",
    "vocabulary": "count the words and word pairs of pair files, for a model's vocabulary",
    "sample": "write a small generated forum, to try all commands on",
}
_USAGE = {
    "reddit": "--input GLOB --output DIR [OPTIONS]",
    "conversations": "--input GLOB --output DIR --text_field NAME\n"
    "    (--id_field NAME --parent_field NAME | --thread_field NAME --order_field NAME) [OPTIONS]",
    "pairs": "--input GLOB --output DIR --input_field NAME --response_field NAME\n    [OPTIONS]",
    "snli": "--input GLOB --output DIR [OPTIONS]",
    "vocabulary": "--input GLOB --output DIR [OPTIONS]",
    "sample": "--output DIR [--comments N] [--seed S]",
}
_EXAMPLES = {
    "reddit": "--input 'dumps/RC_2015-*.zst' --output pairs/",
    "conversations": "--input 'chat/*.jsonl.gz' --output pairs/ --id_field message_id "
    "--parent_field in_reply_to --text_field said",
    "pairs": "--input tickets.csv --output pairs/ --input_field question --response_field answer",
    "snli": "--input snli_1.0_train.jsonl.gz --output nli/",
    "vocabulary": "--input 'pairs/train-*' --output vocabulary/",
    "sample": "--output world/ --comments 80000",
}


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command; an error that the user can fix is one line and exit status 1."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("data_pipeline").setLevel(logging.INFO)
    argv = sys.argv[1:] if argv is None else argv
    parsers = _parsers(argv)
    arguments, beam_arguments = parsers[""].parse_known_args(argv)
    try:
        if beam_arguments and arguments.command in _WITHOUT_BEAM:
            raise InputError(f"unknown arguments: {' '.join(beam_arguments)}")
        if arguments.command in _PAIRING:
            if arguments.output is None and arguments.sample is None:
                parsers[arguments.command].error("the following arguments are required: --output")
            _make_pairs(arguments, beam_arguments)
        else:
            _run(arguments, beam_arguments)
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")


def _parsers(argv: Sequence[str]) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, and under an empty name the parser of all.

    Only the command that the arguments name has its options: the others need not be imported.
    """
    parser = argparse.ArgumentParser(
        prog="python -m data_pipeline",
        usage="%(prog)s COMMAND [OPTIONS]",
        description="Makes training records from conversations. COMMAND --help lists its options.",
        epilog=f"example:\n  python -m data_pipeline reddit {_EXAMPLES['reddit']}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {"": parser}
    for name, text in _TEXTS.items():
        parsers[name] = commands.add_parser(
            name,
            allow_abbrev=False,
            help=text,
            usage=f"python -m data_pipeline {name} {_USAGE[name]}",
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=_epilog(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in argv:
            _add_arguments(parsers[name], name)
    return parsers


def _add_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    if name in _PAIRING:
        _add_common_arguments(parser, name)
    # On import Beam warns of every cloud whose client is not installed.
    logging.disable(logging.WARNING)
    match name:
        case "reddit":
            from data_pipeline.sources.reddit import options as reddit

            reddit.add_arguments(parser)
        case "conversations" | "pairs":
            from data_pipeline.sources.conversations import options as conversations

            if name == "pairs":
                conversations.add_row_arguments(parser)
            else:
                conversations.add_conversation_arguments(parser)
        case _:
            add_options(parser, _options_of(name))
    logging.disable(logging.NOTSET)


def _epilog(name: str) -> str:
    example = f"example:\n  python -m data_pipeline {name} {_EXAMPLES[name]}"
    if name in _WITHOUT_BEAM:
        return example
    return f"{example}\n\nAny Beam pipeline option is accepted too, such as --runner=FlinkRunner."


def _add_common_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Declares `--input`, `--output`, `--overwrite`, and `--sample` of commands that make pairs."""
    parser.add_argument(
        "--input",
        required=True,
        action="extend",
        nargs="+",  # for a pattern that the shell has already expanded
        metavar="GLOB[,GLOB...]",
        help=_INPUTS[name],
    )
    parser.add_argument(
        "--output", required=name not in _PAIRING, metavar="DIR", help="the folder to write"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the output of another job"
    )
    if name in _PAIRING:
        parser.add_argument(
            "--sample",
            type=int,
            metavar="N",
            help="read only the first N messages of each file, print what they give, and write "
            "nothing",
        )


def _options_of(name: str) -> type[Options]:
    module = importlib.import_module(f"data_pipeline.{name}.options")
    return getattr(module, f"{name.capitalize()}Options")


def _make_pairs(arguments: argparse.Namespace, beam_arguments: list[str]) -> None:
    """Calls the command's function, or shows what the first messages give."""
    import data_pipeline

    prepare: Prepare
    run: Callable[..., Any]
    options: Any
    match arguments.command:
        case "reddit":
            run, options = data_pipeline.run_reddit, data_pipeline.RedditOptions.of(arguments)
            from data_pipeline.sources.reddit.options import check

            prepare = partial(check, options)
        case "conversations":
            options = data_pipeline.ConversationOptions.of(arguments)
            from data_pipeline.sources.conversations.options import check_conversations

            run, prepare = data_pipeline.run_conversations, partial(check_conversations, options)
        case _:
            options = data_pipeline.RowOptions.of(arguments)
            from data_pipeline.sources.conversations.options import check_rows

            run, prepare = data_pipeline.run_pairs, partial(check_rows, options)
    if arguments.sample is not None:
        from data_pipeline.job.preview import preview

        preview(
            arguments.input,
            messages=arguments.sample,
            prepare=prepare,
            beam_arguments=beam_arguments,
        )
        return
    result = run(
        arguments.input,
        arguments.output,
        options=options,
        overwrite=arguments.overwrite,
        beam_arguments=beam_arguments,
    )
    result.print(more=f"; {result.folder.rstrip('/')}/data_card.html describes it")


def _run(arguments: argparse.Namespace, beam_arguments: list[str]) -> None:
    given = vars(arguments)
    name = given.pop("command")
    options = _options_of(name)(**given)
    main = importlib.import_module(f"data_pipeline.{name}.command").main
    main(options) if name in _WITHOUT_BEAM else main(options, beam_arguments)


if __name__ == "__main__":
    run_until_interrupted(main)
