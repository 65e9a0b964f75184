"""TFRecord pairs in, a trained dual encoder out (Yang et al. 2018).

    >>> import model
    >>> model.EXPERIMENTS
    ('reddit', 'nli', 'reddit_nli')
    >>> metrics = model.train(
    ...     "reddit",
    ...     model_dir="run",
    ...     config_files=["demo.yaml"],
    ...     params_override="task.train_data.input_path=pairs/train-*,"
    ...     "task.validation_data.input_path=pairs/test-*",
    ... )  # doctest: +ELLIPSIS
    restoring or initializing model...
    ...
    >>> sorted(metrics)
    ['p_at_1', 'p_at_10', 'p_at_3', 'validation_loss']
    >>> encoder, preprocess = model.load("run")
    >>> encoder.encode_inputs(preprocess(["How old are you?"])).shape
    TensorShape([1, 12])

`python -m model` calls `train`. The presets in `model/configs/presets` are config files.
"""

import importlib
from typing import Any

MODES = ("train", "eval", "train_and_eval", "continuous_eval")
"""Modes of `train`."""
_PUBLIC = {
    "EXPERIMENTS": "model.configs.experiments",
    "train": "model.training.run",
    "load": "model.checkpoints.trained",
    "DualEncoder": "model.dual_encoder",
    "TextToIds": "model.text.preprocessing",
    "build": "model.dual_encoder",
}
"""Public names, and where they are defined."""
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: TensorFlow takes 8 seconds to import."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
