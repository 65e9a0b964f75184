"""The options of the commands."""

from dataclasses import dataclass
from pathlib import Path

from common.command_line import Options, option
from export import FLOAT32, VARIANTS
from model import CHECKPOINTS, LAST

RESPONSES, SIMILAR = MODES = ("responses", "similar")
ONNX = "onnx"
FORMATS = ("sentence-transformers", "model2vec", ONNX)
"""The first two libraries read the same folder."""


@dataclass(frozen=True, kw_only=True)
class ModuleOptions(Options):
    """Export a module (the default command)."""

    model_dir: Path = option(help="folder of python -m model", metavar="DIR")
    output: Path = option(help="folder to write", metavar="PATH")
    checkpoint: str = option(
        LAST,
        help="the last checkpoint, or the one that validated best in mode train_and_eval",
        choices=CHECKPOINTS,
    )
    import_module: tuple[str, ...] = option(
        (), help="Python modules to import, which register encoders", metavar="NAME"
    )
    remove_components: int = option(
        0,
        help="remove the first N principal components, which all sentences share, from the "
        "embeddings; choose N on STS-B dev and train",
        minimum=0,
        needs="component_texts",
    )
    component_texts: tuple[str, ...] = option(
        (),
        help="texts from which the components are computed: files with a text per line, or the "
        "training pairs",
        metavar="GLOB",
        needs="remove_components",
    )
    with_sts_matrix: Path | None = option(
        None,
        help="matrix of python -m evaluation sts --tune; embeddings are multiplied by it",
        metavar="FILE.npz",
    )
    variant: str = option(FLOAT32, help="format of the weights", choices=VARIANTS)


@dataclass(frozen=True, kw_only=True)
class CardOptions(Options):
    """Add scores to a module and its model card."""

    module: Path = option(help="module to add the scores to", metavar="DIR")
    results: Path = option(help="results of evaluation", metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class FormatsOptions(Options):
    """Write a module as sentence-transformers, model2vec or ONNX loads it."""

    module: Path = option(help="module of an averaging encoder with a vocabulary", metavar="DIR")
    to: str = option(help="the library that loads it", choices=FORMATS)
    output: Path = option(help="folder to write", metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class IndexOptions(Options):
    """Index texts, and find the best replies or the most similar texts for an input."""

    module: Path = option(help="encodes texts and inputs", metavar="DIR")
    texts: tuple[str, ...] = option(
        (),
        help="files with a text per line; CSV or JSON lines with --text_field; TFRecords of pairs, "
        "of which the responses are indexed (with --mode similar all messages, with their ids); "
        "files that an index lacks are added to it; none open the index of --output",
        metavar="GLOB",
    )
    text_field: str | None = option(
        None, help="field of CSV or JSON lines to index", metavar="NAME"
    )
    id_field: str | None = option(
        None, help="their field that names a text, for --remove", metavar="NAME"
    )
    remove: tuple[str, ...] = option(
        (),
        help="ids of texts to remove from the index, also whenever it is made anew",
        metavar="ID",
    )
    mode: str = option(
        RESPONSES, help="rank texts as replies to an input, or by similarity to it", choices=MODES
    )
    output: Path | None = option(
        None,
        help="folder of the index; default for a single file: FILE.index or FILE.similar.index",
        metavar="DIR",
    )
    input: tuple[str, ...] = option(
        (),
        help="inputs; - reads an input per line from standard input, which is the default on a "
        "terminal",
        metavar="TEXT",
        group="search",
    )
    top: int = option(
        10, help="texts to show for each input", minimum=1, metavar="K", group="search"
    )
    exact: bool = option(
        False, help="score every text, even if there are 20,000 or more", group="search"
    )
