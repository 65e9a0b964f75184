"""TFRecord pairs in, a trained dual encoder out (Yang et al. 2018).

    >>> import model
    >>> encoder = model.build("demo_dan")  # a preset, a YAML file or a configuration; untrained
    >>> encoder.encode(["How old are you?", "What is your age?"]).shape
    (2, 500)

`python -m model` trains from the command line; `train` does the same from Python:

    >>> model.EXPERIMENTS
    ('reddit', 'nli', 'reddit_nli', 'teacher', 'reddit_teacher', 'reddit_nli_teacher')
    >>> metrics = model.train(
    ...     "reddit",
    ...     model_dir="run",
    ...     config_files=["demo.yaml"],  # here an encoder of 12 numbers
    ...     params_override="task.train_data.input_path=pairs/train-*,"
    ...     "task.validation_data.input_path=pairs/validation-*",
    ... )  # doctest: +ELLIPSIS
    restoring or initializing model...
    ...
    >>> sorted(metrics)
    ['p_at_1', 'p_at_10', 'p_at_3', 'validation_loss']
    >>> encoder, preprocess = model.load("run")
    >>> encoder.encode_inputs(preprocess(["How old are you?"])).shape
    TensorShape([1, 12])

The presets are in `model/configs/presets`.
"""

from common import deferred

MODES = (TRAIN, EVAL, TRAIN_AND_EVAL) = ("train", "eval", "train_and_eval")
"""Modes of `train`."""
CHECKPOINTS = (LAST, BEST) = ("last", "best")
"""Checkpoints of a model folder: `best`, also a folder in it, is the one that validated best."""
_PUBLIC = {
    "EXPERIMENTS": "model.configs",
    "train": "model.training.run",
    "load": "model.checkpoints.trained",
    "build": "model.dual_encoder",
    "DualEncoder": "model.dual_encoder",
    "SentenceEncoder": "model.layers.encoders",
    "TextToIds": "model.text.preprocessing",
    "register_encoder": "model.layers.encoders",
}
"""Public names, and where they are defined."""
__all__ = list(_PUBLIC)
__getattr__ = deferred(__name__, _PUBLIC)
