"""A trained model in, a verified SavedModel with its model card out.

>>> from export import build_index, export, search
>>> export("run", "module")  # a folder of `python -m model`, and the SavedModel to write
>>> index = build_index("module", "replies.txt")  # a response per line
>>> (best,) = search(index, ["How old are you?"], top=2)
>>> [type(found.score).__name__ for found in best]  # beside its text, id and fields
['float', 'float']

The names of the SavedModel's signatures:

>>> from export import SIGNATURES
>>> list(SIGNATURES)[:4]
['serving_default', 'encode_input', 'encode_input_in_context', 'encode_response']

`python -m export` calls these functions.
"""

from common import deferred

FLOAT32, INT8 = "float32", "int8"
VARIANTS = (FLOAT32, "bfloat16", "float16", INT8)
"""Formats of the weights, see `export.module.weights`."""
_PUBLIC = {
    "export": "export.saved_model.write",
    "add_scores": "export.card.model_card",
    "VerificationError": "export.saved_model.write",
    "HubModule": "export.module.hub_module",
    "SIGNATURES": "export.module.signatures",
    "build_index": "export.retrieval.index",
    "search": "export.retrieval.search",
}
"""Public names, and where they are defined."""
__all__ = list(_PUBLIC)
__getattr__ = deferred(__name__, _PUBLIC)
