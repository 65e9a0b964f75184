"""The commands of `python -m export`: each calls the Python API and prints."""

import io
import json
import re
import sys
from collections.abc import Iterator, Sequence

from export.card import identity
from export.options import RESPONSES, CardOptions, IndexOptions, ModuleOptions
from export.retrieval.index import build_index
from export.retrieval.search import search
from export.saved_model import write
from model.layers import encoders

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def module(options: ModuleOptions) -> None:
    """Writes a module; says what the matrix of one that has one was learned on."""
    encoders.import_modules(options.import_module)
    names = ("checkpoint", "variant", "remove_components", "component_texts")
    of = {name: getattr(options, name) for name in names}
    write.export(options.model_dir, options.output, sts_matrix=options.with_sts_matrix, **of)
    print(f"verified in a fresh process; written to {options.output}")
    if tuned := identity.read(options.output)["sts_matrix"]:
        # The matrix is one of the weights that a fingerprint is of, so it cannot be compared.
        said = "{path} (fingerprint {fingerprint})".format(**tuned["module"])
        print(f"the matrix was learned on {said}; it fits the same weights only")


def card(options: CardOptions) -> None:
    """Adds scores to a module."""
    count = write.add_scores(options.module, options.results)
    print(f"{count} result{'s' * (count != 1)} written to {options.module / 'README.md'}")


def index(options: IndexOptions) -> None:
    """Builds or extends the index if needed, and prints the best texts for each input."""
    names = ("output", "mode", "text_field", "id_field", "remove")
    of = {name: getattr(options, name) for name in names}
    found = build_index(options.module, options.texts, **of)
    what = "responses" if options.mode == RESPONSES else "texts"
    print(f"{len(found.texts):,} {what}, {found.matrix.shape[1]} numbers each")
    if not options.input:
        print("a text a line on a terminal, --input TEXT or --input - finds the best of them")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
    for text in _inputs(options.input):
        (best,) = search(found, [text], top=options.top, exact=options.exact)
        print(f"\n{text}")
        for rank, each in enumerate(best, start=1):
            # Without line breaks and what else a terminal acts upon.
            print(f"{rank:3}  {each.score:8.4f}  {_CONTROLS.sub(' ', each.text)}", flush=True)
            fields = ({} if each.id is None else {"id": each.id}) | each.fields
            if fields:
                print(_CONTROLS.sub(" ", f"{'':15}{json.dumps(fields, ensure_ascii=False)}"))


def _inputs(given: Sequence[str]) -> Iterator[str]:
    """The texts of `--input`, and lines of standard input."""
    for text in given or (["-"] if sys.stdin.isatty() else []):
        lines = sys.stdin if text == "-" else [text]
        yield from (line.rstrip("\r\n") for line in lines if line.strip())
