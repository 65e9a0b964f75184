"""The options of every command."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from common.command_line import Options, option
from common.errors import InputError
from common.sts import Columns
from common.tables import ESCAPE, QUOTES, Dialect, check_escape
from evaluation.results.result import TASKS

_MODULE = (
    "folder of a SavedModel or of static embeddings, a URL that tensorflow-hub resolves, or one of "
    "wordllama and universal-sentence-encoder, where its package is installed"
)
_TEXTS = "id and text of each: .tsv without a header, or .jsonl; plain or .gz"
_QRELS = "TREC's qrels (query, 0, document, grade), or BEIR's"
_AS = "as --data of the command of this name"
_COLUMNS: Any = ("SENTENCE1", "SENTENCE2", "SCORE")
_METHOD, _OUTPUT = "method", "output"
_IDENTICAL: Any = {
    "help": "a document with a query's id is not ranked for it, as BEIR has it for ArguAna",
    "group": _METHOD,
}


@dataclass(frozen=True, kw_only=True)
class _Seeded(Options):
    seed: int = option(0, help="random seed", minimum=0, maximum=2**32 - 1, group=_METHOD)

    one_of: ClassVar[tuple[str, ...]] = ()  # data, of which one or more must be given

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.one_of and not any(getattr(self, name) for name in self.one_of):
            raise InputError(f"no data: one or more of --{', --'.join(self.one_of)}")


@dataclass(frozen=True, kw_only=True)
class _Candidates(_Seeded):
    candidates: int = option(
        100, help="responses to rank, the true one among them", minimum=2, group=_METHOD
    )
    own_replies: bool = option(
        False, help="also score replies of authors to themselves", group=_METHOD
    )


@dataclass(frozen=True, kw_only=True)
class _NamedCandidates(_Candidates):
    name: str = option(
        "", help="of these pairs: results are response_ranking-NAME.json", group=_OUTPUT
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not re.fullmatch(r"[\w.+-]*", self.name):
            raise InputError(f"--name: {self.name!r}; accepted: letters, digits and . _ + -")


@dataclass(frozen=True, kw_only=True)
class _Results(_Seeded):
    output: Path = option(help="folder for the result files", metavar="DIR", group=_OUTPUT)
    again: bool = option(False, help="recompute results that exist in --output", group=_OUTPUT)


@dataclass(frozen=True, kw_only=True)
class _Module(Options):
    module: str = option(help=_MODULE, metavar="DIR|URL")


@dataclass(frozen=True, kw_only=True)
class _Columns(_Seeded):
    columns: tuple[str, str, str] | None = option(
        None,
        help="of a CSV, TSV, JSON lines or Parquet; scores on any scale",
        metavar=_COLUMNS,
        needs="sts",
    )
    quotes: str | None = option(None, **QUOTES, needs="columns")
    escape: str | None = option(None, **ESCAPE, needs="columns")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_escape(self.escape, quotes=self.quotes)
        if self.columns and len(set(self.columns)) < len(self.columns):
            raise InputError(f"--columns: {self.columns}; accepted: three different ones")

    def named_columns(self) -> Columns | None:
        """Return the columns as `common.sts` takes them."""
        dialect = Dialect(quotes=self.quotes, escape=self.escape)
        return Columns(*self.columns, dialect) if self.columns else None


@dataclass(frozen=True, kw_only=True)
class _Data(Options):
    response_ranking: tuple[Path, ...] = option((), help=_AS, metavar="DATA")
    snli: tuple[Path, ...] = option((), help=_AS, metavar="DATA")
    sts: tuple[Path, ...] = option((), help=_AS, metavar="DATA")
    cqa: tuple[Path, ...] = option((), help=_AS, metavar="DATA")


@dataclass(frozen=True, kw_only=True)
class ResponseRankingOptions(_NamedCandidates, _Results, _Module):
    """P@N: the true response among others (table 1)."""

    task: ClassVar[str] = "response_ranking"
    data: Path = option(
        help="folder with test-*.tfrecord, one such file, or a pattern", metavar="PATH"
    )


@dataclass(frozen=True, kw_only=True)
class SnliOptions(_Results, _Module):
    """Accuracy on SNLI (table 2)."""

    task: ClassVar[str] = "snli"
    data: Path = option(
        help="folder of SNLI's or other dev and test files (and train files, for a classifier "
        "where the module has no classify_nli), or one of them: JSON lines, TSV or Parquet",
        metavar="PATH",
    )


@dataclass(frozen=True, kw_only=True)
class StsOptions(_Results, _Columns, _Module):
    """Pearson and Spearman on the STS Benchmark, a SemEval year or SICK."""

    task: ClassVar[str] = "sts"
    data: Path = option(
        help="the folder of sts-dev.csv and sts-test.csv, of a SemEval year's *.input.*.txt and "
        "*.gs.*.txt, of .tsv files (score, two sentences), of SICK*.txt or of tables with columns "
        "sentence1, sentence2 and score; or one such file; with --columns, any table",
        metavar="PATH",
    )
    tune: bool = option(
        False,
        help="also learn one matrix on sts-train.csv, choose it on dev and score with it",
        group=_METHOD,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tune and self.columns:
            raise InputError("--tune: accepted without --columns, as it learns on sts-train.csv")


@dataclass(frozen=True, kw_only=True)
class CqaOptions(_Results):
    """MAP, AvgRec, MRR on SemEval Task 3, subtask B (table 6)."""

    task: ClassVar[str] = "cqa"
    module: str | None = option(
        None, help=f"{_MODULE}; not needed for files without text (.relevancy)", metavar="DIR|URL"
    )
    data: Path = option(help="an official .xml or .relevancy, or a folder of them", metavar="PATH")


@dataclass(frozen=True, kw_only=True)
class RetrievalOptions(_Results, _Module):
    """Your own queries and documents: nDCG, MRR and recall."""

    task: ClassVar[str] = "retrieval"
    ignore_identical_ids: bool = option(False, **_IDENTICAL)
    queries: Path = option(help=_TEXTS, metavar="FILE")
    documents: Path = option(help=_TEXTS, metavar="FILE")
    relevant: Path = option(help=_QRELS, metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class BaselinesOptions(_NamedCandidates, _Results, _Columns, _Data):
    """TF-IDF, BM25, untrained words, word vectors and installed models, same tasks."""

    one_of: ClassVar[tuple[str, ...]] = (*TASKS, "queries")
    ignore_identical_ids: bool = option(False, **_IDENTICAL, needs="queries")
    queries: Path | None = option(None, help=_TEXTS, metavar="FILE", needs="documents")
    documents: Path | None = option(None, help=_TEXTS, metavar="FILE", needs="relevant")
    relevant: Path | None = option(None, help=_QRELS, metavar="FILE", needs="queries")
    vectors: tuple[Path, ...] = option(
        (), help="files in GloVe's format: averaged, and weighted as in SIF", metavar="FILE"
    )
    module_words: tuple[str, ...] = option(
        (), help="modules whose signature word_vectors gives vectors, too", metavar="DIR|URL"
    )
    sentence_transformers: tuple[str, ...] = option(
        (), help="models of that package, where it is installed", metavar="NAME|DIR|NAME=DIR"
    )
    modules: tuple[str, ...] = option(
        (), help="pretrained modules, as --module of other commands", metavar="DIR|URL"
    )
    training_pairs: Path | None = option(
        None,
        help="train-* and validation-* of the pipeline: learn a linear map of inputs for "
        "response_ranking, over trained vectors (SIF) and models of sentence-transformers",
        metavar="DIR",
        needs="response_ranking",
    )
    tune: bool = option(
        False, help="also score dense embeddings with the matrix of sts --tune", needs="sts"
    )


@dataclass(frozen=True, kw_only=True)
class CompareOptions(_Seeded):
    """A paired test of two modules, from their stored results."""

    a: Path = option(help="folder of result files, or one of them", positional=True)
    b: Path = option(help="folder of result files, or one of them", positional=True)
    system_b: str | None = option(None, help="a baseline in b's results to compare, not its module")


@dataclass(frozen=True, kw_only=True)
class ContaminationOptions(_Seeded, _Data):
    """Overlaps between training records and evaluation sets, and scores without them."""

    one_of: ClassVar[tuple[str, ...]] = TASKS
    training: tuple[Path, ...] = option(
        help="folders of the pipeline's training records, or files of them", metavar="PATH"
    )
    results: Path | None = option(
        None, help="results on these data, to score without the overlaps", metavar="DIR"
    )
    output: Path = option(help="folder for the result files", metavar="DIR", group=_OUTPUT)


@dataclass(frozen=True, kw_only=True)
class MistakesOptions(_Candidates, _Module):
    """Where a module is wrong: errors by kind of text, the worst pairs."""

    one_of: ClassVar[tuple[str, ...]] = ("sts", "response_ranking")
    response_ranking: Path | None = option(None, help=_AS, metavar="DATA")
    sts: Path | None = option(None, help=_AS, metavar="DATA")
    output: Path = option(help="folder for results and mistakes.md", metavar="DIR", group=_OUTPUT)


@dataclass(frozen=True, kw_only=True)
class ThresholdOptions(_Columns, _Module):
    """From which cosine on two texts match, chosen on labelled pairs."""

    data: Path = option(help="pairs of texts with the label 1 or 0", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """One HTML page from stored results."""

    results: Path = option(help="folder of a module's results", metavar="DIR")
    beside: tuple[Path, ...] = option(
        (), help="folders of other modules' results, shown as additional rows", metavar="DIR"
    )
    output: Path = option(help="the page to write", metavar="FILE.html", group=_OUTPUT)


@dataclass(frozen=True, kw_only=True)
class RowsOptions(Options):
    """The main figures and the paper's tables with means over seeds; every row as CSV."""

    results: Path = option(
        help="folders NAME-SEED of results, growth_PERCENT-SEED among them, and baselines/; beside "
        "it, where they are, what other commands wrote: leaks/ and mistakes/",
        metavar="DIR",
    )
    runs: tuple[str, ...] = option((), help="those to show; default: all", metavar="NAME-SEED")
    pairs: tuple[Path, ...] = option(help="the pipeline's training pairs", metavar="DIR")
    outside: tuple[str, ...] = option(
        (), help="what rows have from outside the training data", metavar="NAME=WHAT"
    )
    published: tuple[str, ...] = option(
        (), help="rows to show beside the best ones: those that are published", metavar="NAME"
    )
    about: str = option("", help="what trained and scored it all, and on what machine")
    output: Path = option(help="the page to write", metavar="FILE.md", group=_OUTPUT)
