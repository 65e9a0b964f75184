"""An encoder of a user's own: its module is imported, the YAML names it, and the command trains."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from common.errors import InputError
from model.__main__ import main
from model.checkpoints.model_dir import Record
from model.configs import parsing, schema
from model.layers import encoders

REPOSITORY = Path(__file__).parents[3]
PAGE = (REPOSITORY / "docs" / "training.md").read_text()


@pytest.fixture
def run(tmp_path):
    """Runs Python in a folder with the encoder of the documents."""
    module = PAGE.partition("    # my_encoder.py\n")[2].partition("\nThe YAML")[0]
    (tmp_path / "my_encoder.py").write_text(textwrap.dedent(module))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(tmp_path)])}

    def call(*command):
        asked = [sys.executable, *map(str, command)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.run(asked, cwd=tmp_path, env=environment, check=False, **pipes)

    return call


@pytest.mark.slow
def test_the_command_learns_exports_and_embeds_with_it(run, arguments, tmp_path):
    (yaml,) = re.findall(r"^    (task: .*type: mean.*)$", PAGE, re.MULTILINE)
    (tmp_path / "mean.yaml").write_text(yaml)
    flags = arguments(tmp_path / "run", mode="train_and_eval")
    train = ("-m", "model", "--import_module=my_encoder", *flags)
    done = run(*train, "--config_file", tmp_path / "mean.yaml")
    assert done.returncode == 0, done.stderr
    assert Record.read(tmp_path / "run" / "best").best.value > 0.15  # P@1; by chance 0.03
    assert "dim: 64" in (tmp_path / "run" / "params.yaml").read_text()
    export = ("-m", "export", "--model_dir", tmp_path / "run", "--output", tmp_path / "module")
    refused = run(*export)
    assert refused.returncode == 1
    assert "encoder.mean" in refused.stderr
    assert "--import_module" in refused.stderr
    assert refused.stderr.count("\n") == 1
    done = run(*export, "--import_module=my_encoder")
    assert done.returncode == 0, done.stderr
    embeds = "import sys, tensorflow_hub as hub, tensorflow_text; "
    embeds += "print(hub.load(sys.argv[1])(['how old are you', '']).shape)"
    assert "(2, 64)" in run("-c", embeds, tmp_path / "module").stdout


def test_names_that_are_taken_and_what_is_no_config_are_refused(arguments, tmp_path):
    with pytest.raises(SystemExit, match="--import_module: 'my_encodr'"):
        main([*arguments(tmp_path / "none"), "--import_module=my_encodr"])

    class Mine(encoders.SentenceEncoder):
        tables = {}

    class Without(encoders.SentenceEncoder):
        pass

    with pytest.raises(TypeError, match="Without has no property `tables`: the vectors of the ids"):
        encoders.register_encoder("without", schema.Averaging)(Without)
    for name, config in (
        *(("type", schema.Averaging), ("transformer", schema.Transformer)),
        *(("mine", dict), ("my mine", schema.Nli)),
    ):
        with pytest.raises(ValueError, match=f"encoder '{name}'"):
            encoders.register_encoder(name, config)(Mine)
    with pytest.raises(InputError, match=r"encoder.mine: no such parameter.*--import_module"):
        parsing.parse(experiment="reddit", params_override="task.model.encoder.mine.x=1")
