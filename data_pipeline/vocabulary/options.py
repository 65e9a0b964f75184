"""The options of the vocabulary command."""

from dataclasses import dataclass

from common.command_line import option
from data_pipeline.execution.options import FolderOptions


@dataclass(frozen=True, kw_only=True)
class VocabularyOptions(FolderOptions):
    """The files, and which words are kept."""

    allow_empty: bool = option(False, help="publish the result even if it is empty")
    min_count: int = option(
        2, help="drop words and bigrams (two words in a row) seen fewer than N times", minimum=1
    )
    min_responses: int = option(
        0,
        help="drop words and bigrams found in fewer than N responses, such as rare names",
        minimum=0,
    )
