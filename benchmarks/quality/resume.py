"""One training: continues a folder of the same recipe, empties a folder of another one.

    python -m benchmarks.quality.resume --model_dir DIR --made_with FILE ... -- COMMAND

The recipe is the command and the content of the files that it was made with (the preset, the data
sets' COMPLETED, the recipe of the model that it starts from). `DIR/started.json` holds it from the
start, so that a stopped training continues; `DIR/recipe.json` from the end, with checksums of the
checkpoints.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from common.files import write_json
from common.text_files import sha256

STARTED, DONE = "started.json", "recipe.json"


def main() -> int:
    """Trains; returns the command's exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model_dir", type=Path, required=True, metavar="DIR")
    parser.add_argument("--made_with", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument("--drop_checkpoints", action="store_true", help="after the last step")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    given = parser.parse_args()
    command = given.command[1:]  # without --
    files = {str(path): sha256([path]) for path in given.made_with}
    recipe: dict[str, object] = {"command": command, "made_with": files}
    started = given.model_dir / STARTED
    if not started.exists() or json.loads(started.read_text()) != recipe:
        shutil.rmtree(given.model_dir, ignore_errors=True)
        given.model_dir.mkdir(parents=True)
        write_json(started, recipe)
    if status := subprocess.run(command, check=False).returncode:
        return status
    # An index has the checksums of the weights.
    indexes = sorted(given.model_dir.rglob("ckpt*.index"))
    recipe["trained"] = {str(path.relative_to(given.model_dir)): sha256([path]) for path in indexes}
    if given.drop_checkpoints:
        for path in given.model_dir.rglob("ckpt*"):
            path.unlink()
    write_json(given.model_dir / DONE, recipe)
    return 0


if __name__ == "__main__":
    sys.exit(main())
