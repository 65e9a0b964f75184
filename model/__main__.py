"""Training and evaluation, with the Model Garden's flags.

python -m model --experiment reddit --mode train_and_eval --model_dir run/ \
        --config_file model/configs/laptop_dan.yaml \
        --params_override "task.train_data.input_path='pairs/train-*'"
"""

import os
import sys
from collections.abc import Sequence

from absl import app, flags
from official.common import flags as model_garden_flags

MODES = ("train", "eval", "train_and_eval")
FLAGS = flags.FLAGS


def main(argv: Sequence[str]) -> None:
    """Checks the flags, then trains or evaluates."""
    if len(argv) > 1:
        sys.exit(f"error: unexpected argument {argv[1]!r}; every flag begins with --")
    missing = [f"--{name}" for name in ("experiment", "mode", "model_dir") if not FLAGS[name].value]
    if missing:
        sys.exit(f"error: {', '.join(missing)} must be given")
    if FLAGS.mode not in MODES:
        sys.exit(f"error: --mode: {FLAGS.mode!r}; accepted are {', '.join(MODES)}")

    # TensorFlow takes 8 seconds to import, and speaks at length of devices that are not there.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from model import training
    from model.errors import InputError

    try:
        training.run(training.parse_params(FLAGS), mode=FLAGS.mode, model_dir=FLAGS.model_dir)
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    model_garden_flags.define_flags()
    app.run(main)
