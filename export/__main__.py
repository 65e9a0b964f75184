"""Writes the hub module of a trained model.

python -m export --model_dir run/ --output module/
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command; exits with one line and status 1 on what the user can mend."""
    parser = argparse.ArgumentParser(prog="python -m export", description=__doc__)
    parser.add_argument("--model_dir", type=Path, required=True, help="of python -m model")
    parser.add_argument("--output", type=Path, required=True, help="the folder to write")
    arguments = parser.parse_args(argv)

    # TensorFlow takes 8 seconds to import, and speaks at length of devices that are not there.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from export import checkpoint, write
    from export.hub_module import HubModule
    from model.errors import InputError
    from model.model_dir import PARAMS_FILE

    try:
        model, text = checkpoint.load(arguments.model_dir)
        output = arguments.output.resolve()
        print(f"exporting {arguments.model_dir}", flush=True)
        write.write(HubModule(model, text), output, params=arguments.model_dir / PARAMS_FILE)
    except (InputError, OSError, write.VerificationError) as error:
        sys.exit(f"error: {error}")
    print(f"verified in a fresh process; written to {arguments.output}")


if __name__ == "__main__":
    main()
