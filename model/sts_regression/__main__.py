"""The STS regressors of Prijatelj et al. 2017: trains networks that compare two sentences."""

import os
from collections.abc import Sequence

from common import command_line
from common.command_line import Command
from model.sts_regression.options import RunOptions

COMMANDS = [
    Command(
        "run",
        RunOptions,
        run="model.sts_regression.run:run",
        example="--preset quick --data DIR --vectors glove.txt --output regressors/",
    )
]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command."""
    # TensorFlow reports a missing GPU as an error; what matters it raises as well.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Makes tf.keras the Keras of our layers, tf_keras: importing Keras 3 as well takes a second.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    command_line.main("model.sts_regression", __doc__, COMMANDS, argv)


if __name__ == "__main__":
    main()
