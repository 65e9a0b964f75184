"""The folder that other libraries load: a table and a tokenizer."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

from common.files import aside, claim, require_only
from export.formats.static import convert
from export.options import ONNX, FormatsOptions

_CONFIG = {
    "model_type": "model2vec",
    "architectures": ["StaticModel"],
    "normalize": True,
    "max_length": None,  # model2vec would count letters, too: three a token, as n-grams have
}
_MODELS, _LAST = "sentence_transformers.models", "1_Normalize"
_OPSET = 17


def command(options: FormatsOptions) -> None:
    """Writes a module as another library loads it; InputError if it has no such form."""
    output = options.output.resolve()
    with claim(output):
        require_only(output)
        table, tokenizer = convert(options.module)
        with aside(output) as new:
            new.mkdir()
            if options.to == ONNX:
                onnx.save(graph(table), new / "model.onnx")
            else:
                _write_static(table, new)
            tokenizer.save(str(new / "tokenizer.json"), pretty=False)
    print(f"written to {options.output}")


def _write_static(table: np.ndarray, folder: Path) -> None:
    """What both sentence-transformers and model2vec read."""
    save_file({"embeddings": np.ascontiguousarray(table)}, folder / "model.safetensors")
    parts = [
        {"idx": number, "name": str(number), "path": path, "type": f"{_MODELS}.{kind}"}
        for number, (path, kind) in enumerate(((".", "StaticEmbedding"), (_LAST, "Normalize")))
    ]
    (folder / "modules.json").write_text(json.dumps(parts, indent=1))
    (folder / "config.json").write_text(json.dumps(_CONFIG | {"hidden_dim": table.shape[1]}))
    (folder / _LAST).mkdir()


def graph(table: np.ndarray) -> onnx.ModelProto:
    """Ids to embeddings, as an ONNX graph.

    Its inputs are int64 [batch, tokens] `input_ids` and `attention_mask`, 1 where there is a token,
    0 behind the last; its output is `sentence_embedding`, float32 [batch, dim], of unit length.
    """
    node, info = helper.make_node, helper.make_tensor_value_info
    constants = {
        "table": table,
        "last": np.array([2]),
        "tokens_axis": np.array([1]),
        "least": np.array(1e-12, np.float32),
    }
    steps = [
        node("Gather", ["table", "input_ids"], ["vectors"]),
        node("Cast", ["attention_mask"], ["present"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["present", "last"], ["column"]),
        node("Mul", ["vectors", "column"], ["kept"]),
        node("ReduceSum", ["kept", "tokens_axis"], ["sum"], keepdims=0),
        node("ReduceL2", ["sum"], ["length"], axes=[1], keepdims=1),
        node("Max", ["length", "least"], ["divisor"]),
        node("Div", ["sum", "divisor"], ["sentence_embedding"]),
    ]
    inputs = ("input_ids", "attention_mask")
    graph = helper.make_graph(
        steps,
        "embedding",
        [info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [info("sentence_embedding", TensorProto.FLOAT, ["batch", table.shape[1]])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
