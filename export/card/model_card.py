"""The model card: README.md in a module's folder, made from its `assets.extra/`.

The scores in it come from the result files that `python -m evaluation` has written.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from common.errors import InputError, reading
from common.files import CLAIM, claim, write_json, write_text
from common.text_files import as_markdown, as_markdown_code
from export.card import identity
from export.module import plain, warm_up
from export.module.signatures import SIGNATURES
from export.options import CardOptions
from model.configs import schema

TASKS = ("response_ranking", "snli", "sts", "cqa", "retrieval")
"""Those that score a module; `evaluation contamination` does not."""
SCORES = "scores.json"
"""Below `identity.FOLDER`."""


def command(options: CardOptions) -> None:
    """Adds scores to a module."""
    count = add_scores(options.module, options.results)
    print(f"{count} result{'s' * (count != 1)} written to {options.module / 'README.md'}")


def add_scores(module: str | Path, results: str | Path) -> int:
    """Writes scores into a module and its card, in place of earlier ones; returns their number.

    Args:
      module: a module that `export` has written.
      results: folder of result files of `python -m evaluation` for this module.

    Raises:
      InputError: if the folder is no such module, or the results belong to another one.
    """
    module = Path(module).resolve()
    with claim(module):
        about = identity.read(module)
        found = read_scores(Path(results), fingerprint=about["fingerprint"])
        write_json(module / identity.FOLDER / SCORES, found)
        write(module)
    return len(found)


def read_scores(folder: Path, *, fingerprint: str) -> list[dict[str, Any]]:
    """Reads result files: task, name, n, metrics, intervals, data, settings and notes of each.

    Passed over are results of something else than the module itself: of its embeddings after the
    matrix of `sts --tune`, or of a search engine. InputError if there is no result, or a file is
    none or of a module with another fingerprint.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        with reading(f"--results: {path}: not a result of a module"):
            result = json.loads(path.read_text(encoding="utf-8"))
            is_other = result.get("system", "module") != "module" or result["task"] not in TASKS
            if is_other or result["module"] is None:
                continue
            of_module: str = result["module"]["fingerprint"]
            score = {key: result[key] for key in ("task", "name", "n", "metrics")}
            score["data"] = result["data"]["sha256"]
            empty: dict[str, Any] = {"intervals": {}, "settings": {}, "notes": []}
            score |= {key: result.get(key, default) for key, default in empty.items()}
        if of_module != fingerprint:
            raise InputError(
                f"--results: {path} is about another module: its fingerprint is {of_module}, this "
                f"module's {fingerprint}; evaluate this one"
            )
        found.append(score)
    if not found:
        raise InputError(f"--results: {str(folder)!r} holds no *.json of `python -m evaluation`")
    return found


def scores(module: Path) -> list[dict[str, Any]]:
    """What `read_scores` found, as it was written into a module; nothing if that has no scores."""
    path = module / identity.FOLDER / SCORES
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def write(module: Path) -> None:
    """Writes the card of a module that has its identity."""
    plain_size = _bytes(module / name for name in plain.FILES)
    found = scores(module)
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
