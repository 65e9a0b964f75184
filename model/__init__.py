"""TFRecord pairs in, a trained dual encoder out (Yang et al. 2018).

`python -m model` does the same from the command line.

>>> import model
>>> encoder = model.build("demo_dan")  # a preset, a YAML file or a configuration; not trained yet
>>> encoder.encode(["How old are you?", "What is your age?"]).shape
(2, 500)
"""

import importlib

_PUBLIC = {
    "DualEncoder": "model.dual_encoder",
    "SentenceEncoder": "model.layers.encoders",
    "TextToIds": "model.text.preprocessing",
    "build": "model.dual_encoder",
    "register_encoder": "model.layers.encoders",
}
"""Public names, and where they are defined."""
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> object:
    """Imports a public name when it is first used: TensorFlow takes 8 seconds to import."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
