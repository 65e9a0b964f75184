"""The model card: README.md in a module's folder, made from its `assets.extra/`."""

from pathlib import Path
from typing import Any

import jinja2

from export.card import identity, scores
from export.module import sts_matrix, warm_up
from export.module.signatures import SIGNATURES
from model.configs import schema

FILE = "README.md"
TEMPLATE = "model_card.md.jinja"


def write(module: Path) -> None:
    """Writes the card of a module that has its identity."""
    known = module / identity.FOLDER / identity.SCORES
    (module / FILE).write_text(
        render(identity.read(module), scores.load(known), size=size(module)), encoding="utf-8"
    )


def render(about: dict[str, Any], found: list[dict[str, Any]], *, size: int) -> str:
    """The card, Markdown.

    Args:
      about: content of `identity.json`.
      found: content of `scores.json`.
      size: bytes of the module.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # Markdown
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(TEMPLATE).render(
        about=about,
        scores=scores.rows(found),
        settings=[score for score in found if score["settings"]],
        notes=[(score["name"], note) for score in found for note in score.get("notes", [])],
        learned_on=sts_matrix.learned_on(about["sts_matrix"]),
        signatures={name: SIGNATURES[name] for name in about["signatures"]},
        pairs=[_totals(data) for data in about["training_data"]],
        synthetic=_synthetic(about["training_data"]),
        sources=_sources(about["training_data"]),
        ranks=schema.RESPONSE_SELECTION in _learned(about),
        size=size,
        warm_up=warm_up.FILE,
    )


def _synthetic(training_data: list[dict[str, Any]]) -> bool:
    """Whether all training data were generated."""
    return bool(training_data) and all(data.get("synthetic") for data in training_data)


def _sources(training_data: list[dict[str, Any]]) -> list[str]:
    """Names of the conversations it learned from, such as Reddit, as far as known."""
    return list(dict.fromkeys(data["source"] for data in training_data if "source" in data))


def _learned(about: dict[str, Any]) -> set[str]:
    """The tasks that it was trained on, also before its last run."""
    return {*about["tasks"], *(data["task"] for data in about["training_data"])}


def _totals(data: dict[str, Any]) -> dict[str, Any]:
    files = (data["manifest"] or {}).values()
    return data | {"records": sum(file["records"] for file in files), "count": len(files)}


def size(module: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in module.rglob("*") if path.is_file())
