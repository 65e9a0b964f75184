"""Trains and validates dual encoders, and writes the embeddings of a teacher.

python -m model --experiment reddit --mode train --model_dir run/ \\
        --config_file laptop_dan \\
        --params_override "task.train_data.input_path=pairs/train-*"
python -m model --experiment reddit --config_file laptop_dan --print_config
python -m model train --help
"""

from collections.abc import Sequence

from common import command_line
from model.commands import COMMANDS


def main(argv: Sequence[str] | None = None) -> None:
    """Runs a command, by default `train`; exits with one line on an error."""
    command_line.main("model", str(__doc__), COMMANDS, argv, default="train")


if __name__ == "__main__":
    main()
    from model import cluster

    cluster.leave(0)
