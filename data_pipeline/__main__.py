"""Makes training records from conversations. COMMAND --help lists the options of a command."""

import logging
from collections.abc import Sequence
from functools import partial

from common import command_line
from common.command_line import Command
from data_pipeline.options import SampleOptions, SnliOptions, VocabularyOptions
from data_pipeline.sources.exports.options import ImportOptions
from data_pipeline.sources.reddit.options import RedditOptions
from data_pipeline.sources.tables.options import ConversationOptions, RowOptions

_BEAM = "Any Beam pipeline option is accepted too, such as --runner=FlinkRunner."
_makes_pairs = partial(Command, run="data_pipeline.job.run:main", others=_BEAM)
COMMANDS = [
    _makes_pairs("reddit", RedditOptions, example="--input 'dumps/RC_2015-*.zst' --output pairs/"),
    _makes_pairs(
        "conversations",
        ConversationOptions,
        example="--input 'chat/*.jsonl.gz' --output pairs/ --id_field message_id "
        "--parent_field in_reply_to --text_field said",
    ),
    _makes_pairs(
        "pairs",
        RowOptions,
        example="--input tickets.csv --output pairs/ --input_field question "
        "--response_field answer",
    ),
    _makes_pairs("import", ImportOptions, example="discord --input export/ --output pairs/"),
    Command(
        "snli",
        SnliOptions,
        run="data_pipeline.snli:main",
        example="--input snli_1.0_train.jsonl.gz --output nli/",
    ),
    Command(
        "vocabulary",
        VocabularyOptions,
        run="data_pipeline.vocabulary.command:main",
        example="--input 'pairs/train-*' --output vocabulary/",
        others=_BEAM,
    ),
    Command(
        "sample",
        SampleOptions,
        run="data_pipeline.sample.command:main",
        example="--output world/ --comments 80000",
    ),
]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command; an error is one line and exit status 1."""
    # On import Beam warns of every cloud whose client is not installed.
    logging.basicConfig(format="%(message)s", level=logging.ERROR)
    logging.getLogger("data_pipeline").setLevel(logging.INFO)
    command_line.main("data_pipeline", __doc__, COMMANDS, argv)


if __name__ == "__main__":
    main()
