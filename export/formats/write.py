"""The folder that other libraries load."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

from common import saved_model
from common.errors import InputError
from common.files import aside, claim
from export.card import identity
from export.formats.static import convert
from export.module import plain
from export.options import ONNX, PLAIN, STATIC_FORMATS, FormatsOptions
from model.checkpoints.model_dir import read_params

_MODULES = [
    {"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"},
    {
        "idx": 1,
        "name": "1",
        "path": "1_Normalize",
        "type": "sentence_transformers.models.Normalize",
    },
]
_CONFIG = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True}
_OPSET = 17


def command(options: FormatsOptions) -> None:
    """Writes a module as another library loads it."""
    write(options.module, options.output, options.to)
    print(f"written to {options.output}")


def write(module: Path, output: Path, to: str) -> None:
    """Writes a module as another library loads it.

    Args:
      module: a module that `export` has written, of an encoder that sums rows.
      output: the folder to write, new or empty.
      to: one of `export.options.FORMATS`.

    Raises:
      InputError: if the module has no such form, or `output` holds anything.
    """
    output = output.resolve()
    if output.is_dir() and any(output.iterdir()):
        raise InputError(f"--output: {output} is not empty; name a new folder")
    if to != PLAIN:
        table, tokenizer = convert(module)
    with claim(output), aside(output) as new:
        new.mkdir()
        if to == PLAIN:
            _write_plain(module, new)
            return
        tokenizer.save(str(new / "tokenizer.json"), pretty=False)
        _TABLE_WRITERS[to](table, new)


def _write_onnx(table: np.ndarray, folder: Path) -> None:
    onnx.save(graph(table), folder / "model.onnx")


def _write_static(table: np.ndarray, folder: Path) -> None:
    save_file({"embeddings": np.ascontiguousarray(table)}, folder / "model.safetensors")
    (folder / "modules.json").write_text(json.dumps(_MODULES, indent=1))
    (folder / "config.json").write_text(json.dumps(_CONFIG | {"hidden_dim": table.shape[1]}))
    (folder / "1_Normalize").mkdir()


_TABLE_WRITERS = {ONNX: _write_onnx, **dict.fromkeys(STATIC_FORMATS, _write_static)}
"""What writes the vectors of tokens, float32 [tokens, dim], beside `tokenizer.json`."""


def _write_plain(module: Path, folder: Path) -> None:
    model = read_params(module / identity.FOLDER)["task"]["model"]
    if not plain.has_plain_form(model):
        raise InputError(
            f"--module: {module}: encoder {model['encoder']['type']}; accepted: averaging without "
            "hidden layers"
        )
    plain.write(saved_model.load(module), model, folder)


def graph(table: np.ndarray) -> onnx.ModelProto:
    """Ids to embeddings, as an ONNX graph.

    Its inputs are int64 [batch, tokens] `input_ids` and `attention_mask`, 1 where there is a token,
    0 behind the last; its output is `sentence_embedding`, float32 [batch, dim], of unit length.
    """
    shape = ["batch", "tokens"]
    return helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
                helper.make_node("Cast", ["attention_mask"], ["present"], to=TensorProto.FLOAT),
                helper.make_node("Unsqueeze", ["present", "last"], ["column"]),
                helper.make_node("Mul", ["vectors", "column"], ["kept"]),
                helper.make_node("ReduceSum", ["kept", "tokens_axis"], ["sum"], keepdims=0),
                helper.make_node("ReduceL2", ["sum"], ["length"], axes=[1], keepdims=1),
                helper.make_node("Max", ["length", "least"], ["divisor"]),
                helper.make_node("Div", ["sum", "divisor"], ["sentence_embedding"]),
            ],
            "embedding",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, shape)
                for name in ("input_ids", "attention_mask")
            ],
            [
                helper.make_tensor_value_info(
                    "sentence_embedding", TensorProto.FLOAT, ["batch", table.shape[1]]
                )
            ],
            [
                numpy_helper.from_array(array, name)
                for name, array in {
                    "table": table,
                    "last": np.array([2]),
                    "tokens_axis": np.array([1]),
                    "least": np.array(1e-12, np.float32),
                }.items()
            ],
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=8,
    )
