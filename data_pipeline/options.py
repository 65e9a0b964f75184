"""Options that several commands share, and those of the commands that make no pairs of messages."""

from dataclasses import dataclass

from common.command_line import Options, option

EMPTY = "publish the result even if it is empty"


@dataclass(frozen=True, kw_only=True)
class FolderOptions(Options):
    """What a job reads and writes."""

    input: tuple[str, ...] = option(
        help="files, plain, .gz, .bz2, .xz or .zst, local or on a Beam filesystem",
        metavar="GLOB[,GLOB...]",
    )
    output: str = option(help="the folder to write", metavar="DIR")
    overwrite: bool = option(False, help="replace the output of another job")


@dataclass(frozen=True, kw_only=True)
class LimitOptions(FolderOptions):
    """What must not be in the output, and what the input may hold for it to be published."""

    exclude_texts: tuple[str, ...] = option(
        (),
        help="drop pairs with a text of these evaluation sets (names or patterns): .txt, .csv, "
        ".tsv, .jsonl or .xml, plain or compressed",
        metavar="GLOB",
    )
    allow_empty: bool = option(False, help=EMPTY)
    max_malformed: float = option(
        0.5, help="fail if a larger share of the lines is malformed", minimum=0, maximum=1
    )


@dataclass(frozen=True, kw_only=True)
class SnliOptions(LimitOptions):
    """Convert SNLI's files into labelled pairs of sentences, as TFRecord."""

    shards: int = option(1, help="how many files to write", minimum=1)
    pair_ids: tuple[str, ...] = option(
        (),
        help="keep only pairs whose pairID matches a pattern, such as 'cad-*'; default: all",
        metavar="PATTERN",
    )


@dataclass(frozen=True, kw_only=True)
class VocabularyOptions(FolderOptions):
    """Count the words and word pairs of pair files, for a model's vocabulary."""

    allow_empty: bool = option(False, help=EMPTY)
    min_count: int = option(
        2, help="drop words and bigrams (two words in a row) seen fewer than N times", minimum=1
    )
    min_responses: int = option(
        0,
        help="drop words and bigrams found in fewer than N responses, such as rare names",
        minimum=0,
    )


@dataclass(frozen=True, kw_only=True)
class SampleOptions(Options):
    """Write a small generated forum, to try all commands on."""

    output: str = option(help="the local folder to write", metavar="DIR")
    comments: int = option(
        80_000, help="comments in the dump, millions for load tests", minimum=1, metavar="N"
    )
    seed: int = option(0, help="of all random draws", metavar="N")
