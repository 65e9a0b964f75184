"""The model card: README.md in a module's folder, made from its `assets.extra/`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from export.card import identity, markdown, scores
from export.module import plain, warm_up
from export.module.signatures import SIGNATURES
from model.configs import schema

FILE = "README.md"
TEMPLATE = "model_card.md.jinja"


def write(module: Path) -> None:
    """Writes the card of a module that has its identity."""
    known = module / identity.FOLDER / identity.SCORES
    (module / FILE).write_text(
        render(
            identity.read(module),
            scores.load(known),
            size=size(module),
            plain_size=_bytes(module / name for name in plain.FILES),
        ),
        encoding="utf-8",
    )


def render(
    about: dict[str, Any], found: list[dict[str, Any]], *, size: int, plain_size: int = 0
) -> str:
    """The card, Markdown.

    Args:
      about: content of `identity.json`.
      found: content of `scores.json`.
      size: bytes of the SavedModel.
      plain_size: bytes of the plain form; 0 if there is none.
    """
    data = about["training_data"]
    learned = {*about["tasks"], *(part["task"] for part in data)}  # also before its last run
    return (
        markdown.environment(Path(__file__).parent)
        .get_template(TEMPLATE)
        .render(
            about=about,
            scores=scores.rows(found),
            settings=[score for score in found if score["settings"]],
            notes=[(score["name"], note) for score in found for note in score.get("notes", [])],
            learned_on=identity.learned_on(about["sts_matrix"]),
            signatures={name: SIGNATURES[name] for name in about["signatures"]},
            pairs=[_totals(part) for part in data],
            synthetic=bool(data) and all(part.get("synthetic") for part in data),
            sources=list(dict.fromkeys(part["source"] for part in data if "source" in part)),
            ranks=schema.RESPONSE_SELECTION in learned,
            size=size,
            plain_size=plain_size,
            warm_up=warm_up.FILE,
        )
    )


def _totals(data: dict[str, Any]) -> dict[str, Any]:
    files = (data["manifest"] or {}).values()
    return data | {"records": sum(file["records"] for file in files), "count": len(files)}


def size(module: Path) -> int:
    """Bytes of a SavedModel with all that is in its folder but the plain form."""
    return _bytes(path for path in module.rglob("*") if path.name not in plain.FILES)


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())
