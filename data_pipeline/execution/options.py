"""Options that several commands share."""

from dataclasses import dataclass

from common.command_line import Options, option


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
    allow_empty: bool = option(False, help="publish the result even if it is empty")
    max_malformed: float = option(
        0.5, help="fail if a larger share of the lines is malformed", minimum=0, maximum=1
    )
