"""Exports a trained model as a SavedModel with a model card.

python -m export --model_dir run/ --output module/ [--variant int8] [--with_sts_matrix FILE.npz]
python -m export card --module module/ --results results/
python -m export formats --module module/ --to onnx --output onnx/
python -m export index --module module/ --texts 'replies/*.txt' [--mode similar] [--input TEXT]
"""

import os
from collections.abc import Sequence

from common import command_line
from common.command_line import Command
from export.options import CardOptions, FormatsOptions, IndexOptions, ModuleOptions

COMMANDS = [
    Command(
        "module",
        ModuleOptions,
        run="export.saved_model.write:module_command",
        example="--model_dir run/ --output module/ --variant int8",
    ),
    Command(
        "card",
        CardOptions,
        run="export.card.model_card:command",
        example="--module module/ --results results/",
    ),
    Command(
        "formats",
        FormatsOptions,
        run="export.formats.write:command",
        example="--module module/ --to model2vec --output static/",
    ),
    Command(
        "index",
        IndexOptions,
        run="export.retrieval.search:command",
        example="--module module/ --texts 'replies/*.txt' --output replies.index/ "
        '--input "How old are you?"',
    ),
]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command; `module` if none is named."""
    # On the CPU: GPUs compute float32 products in fewer bits (TF32).
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    command_line.main("export", __doc__, COMMANDS, argv, default="module")


if __name__ == "__main__":
    main()
