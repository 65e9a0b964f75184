"""The model card: README.md in a module's folder, made from its `assets.extra/`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from common.files import CLAIM, write_text
from common.text_files import as_markdown, as_markdown_code
from export.card import identity, scores
from export.module import plain, warm_up
from export.module.signatures import SIGNATURES
from model.configs import schema


def write(module: Path) -> None:
    """Writes the card of a module that has its identity."""
    plain_size = _bytes(module / name for name in plain.FILES)
    found = scores.load(module)
    card = render(identity.read(module), found, size=size(module), plain_size=plain_size)
    write_text(module / "README.md", card)


def render(
    about: dict[str, Any], found: list[dict[str, Any]], *, size: int, plain_size: int = 0
) -> str:
    """The card, Markdown; what the template is given is shown as it is, unless it is `| safe`.

    `about` is the content of `identity.json`, `found` that of `scores.json`; the sizes are bytes,
    `plain_size` is 0 if there is no plain form.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # HTML's
        finalize=lambda value: as_markdown(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["code"] = lambda value: Markup(as_markdown_code(str(value)))
    data = about["training_data"]
    learned = {*about["tasks"], *(part["task"] for part in data)}  # also before its last run
    files = [(part["manifest"] or {}).values() for part in data]
    return environment.get_template("model_card.md.jinja").render(
        about=about,
        scores=found,
        signatures={name: SIGNATURES[name] for name in about["signatures"]},
        pairs=[
            part | {"records": sum(file["records"] for file in some), "count": len(some)}
            for part, some in zip(data, files, strict=True)
        ],
        synthetic=bool(data) and all(part.get("synthetic") for part in data),
        sources=list(dict.fromkeys(part["source"] for part in data if "source" in part)),
        ranks=schema.RESPONSE_SELECTION in learned,
        size=size,
        plain_size=plain_size,
        warm_up=warm_up.FILE,
    )


def size(module: Path) -> int:
    """Bytes of a SavedModel with all that is in its folder but the plain form."""
    return _bytes(path for path in module.rglob("*") if path.name not in (*plain.FILES, CLAIM))


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())
