"""Trains and validates dual encoders, and writes the embeddings of a teacher.

python -m model --experiment reddit --mode train --model_dir run/ \\
        --config_file laptop_dan \\
        --params_override "task.train_data.input_path=pairs/train-*"
python -m model --experiment reddit --config_file laptop_dan --print_config
python -m model train --help
"""

import os
from collections.abc import Sequence

from common import command_line
from model.commands import COMMANDS


def main(argv: Sequence[str] | None = None) -> None:
    """Runs a command, by default `train`; exits with one line on an error."""
    # TensorFlow takes 8 seconds to import, and logs at length about missing devices.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Makes tf.keras the Keras of our layers, tf_keras: importing Keras 3 as well takes a second.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # else one process takes all memory
    command_line.main("model", str(__doc__), COMMANDS, argv, default="train")


if __name__ == "__main__":
    main()
    from model import cluster

    cluster.leave(0)
