"""The paper's figures and the tables that show them, from `paper.yaml`."""

from pathlib import Path

import msgspec
import yaml

from evaluation.data.sts_benchmark import OFFICIAL_COUNTS
from evaluation.metrics import from_size
from evaluation.report.table import Cell


class Spec(msgspec.Struct, forbid_unknown_fields=True):
    """A table: see `paper.yaml`."""

    title: str
    task: str
    metrics: list[str]
    data: list[str] = []
    groups: tuple[str, ...] = ("all",)
    stacked: bool = False
    percent: bool = False
    decimals: int = 3
    interval: str = ""
    note: str = ""
    paper_note: str = ""
    paper: dict[str, dict[str, list[float]]] = {}


class Main(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A main figure: a metric of one data set, and the paper's of its two models."""

    label: str
    data: str
    metric: str
    of_baselines: str = ""
    reddit: float | None = None
    nli: float | None = None


class Example(msgspec.Struct, frozen=True):
    """A pair of table 5: its score and label, and in what way the score is good or bad."""

    kind: str
    score: float
    gold: float
    sentence1: str
    sentence2: str


class Paper(msgspec.Struct, forbid_unknown_fields=True):
    """What `paper.yaml` holds."""

    tables: dict[str, Spec]
    main: list[Main]
    sizes: dict[str, int]
    candidates: int
    pairs: int
    pretrained: dict[str, str]
    examples: list[Example]
    regressors: dict[str, tuple[float, float]]


PAPER = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("paper.yaml").read_text(encoding="utf-8")), Paper
)
SIZES = PAPER.sizes | {name: sum(of.values()) for name, of in OFFICIAL_COUNTS.items()}


def published(
    value: float | None, kind: str, n: int, *, percent: bool = False, decimals: int = 3
) -> Cell:
    """Return a published figure, with the interval that follows from the number of items.

    `kind` is correlation, proportion, or empty for a figure without an interval.
    """
    ends = None
    if value is not None and kind:
        of = from_size.of_correlation if kind == "correlation" else from_size.of_proportion
        ends = of(value, n)
    return Cell(value, ends, percent, decimals)
