"""What a benchmark cannot measure is refused before it measures anything."""

import importlib
import sys

import pytest

NEEDED = {
    "ablations": ["--pairs", "pairs", "--sts_dev", "dev.csv"],
    "encoders": ["--pairs", "pairs", "--sts_dev", "dev.csv"],
    "encoding": ["--module", "module", "--pairs", "pairs", "--peer_python", sys.executable],
    "evaluation": ["--module", "module", "--pairs", "pairs"],
    "gates": [],
    "modules": ["--modules", "modules"],
    "pipeline": ["--dumps", "RC_*"],
    "scaling": ["--pairs", "pairs"],
    "training": ["--pairs", "pairs"],
    "xla": ["--pairs", "pairs"],
    "__main__": [
        *("--dumps", "RC_*", "--pairs", "pairs", "--sts_dev", "dev.csv", "--modules", "modules"),
        *("--output", "page.md"),
    ],
}
WRONG = [
    ("ablations", "--train_pairs", "0", "from 1 on"),
    ("ablations", "--at_once", "0", "from 1 on"),
    ("ablations", "--output", "nowhere/page.md", "a file in a folder that is there"),
    ("encoders", "--train_pairs", "-5", "from 1 on"),
    ("encoders", "--presets", "nowhere", "laptop_dan"),
    ("encoding", "--sentences", "4095", "from 4096 on"),
    ("encoding", "--rounds", "0", "from 1 on"),
    ("encoding", "--seconds", "nan", "finite numbers above 0"),
    ("encoding", "--seconds", "0", "finite numbers above 0"),
    ("encoding", "--peer_python", "nowhere/python", "a program that can be started"),
    ("encoding", "--plot", "nowhere/plot.png", "a file in a folder that is there"),
    ("evaluation", "--sentences", "0", "from 1 on"),
    ("evaluation", "--times", "0", "from 1 on"),
    ("gates", "--units", "0", "from 1 on"),
    ("gates", "--rounds", "0", "from 1 on"),
    ("gates", "--steps", "0", "from 1 on"),
    ("modules", "--rounds", "0", "from 1 on"),
    ("pipeline", "--comments", "0", "from 1 on"),
    ("scaling", "--steps", "1", "from 2 on"),
    ("scaling", "--batch", "0", "from 1 on"),
    ("scaling", "--preset", "nowhere", "laptop_dan"),
    ("training", "--minilm_steps", "1", "from 2 on"),
    ("training", "--peer_steps", "20", "from 21 on"),
    ("training", "--steps", "1", "from 2 on"),
    ("training", "--batch", "0", "from 1 on"),
    ("training", "--rounds", "-1", "from 0 on"),
    ("training", "--rounds", "two", "from 0 on"),
    ("training", "--epochs", "0", "from 1 on"),
    ("training", "--peer_python", "nowhere/python", "a program that can be started"),
    ("transformer", "--layers", "0", "from 1 on"),
    ("transformer", "--words", "1", "from 2 on"),
    ("transformer", "--batch", "1", "from 2 on"),
    ("transformer", "--steps", "0", "from 1 on"),
    ("transformer", "--window", "0", "from 1 on"),
    ("xla", "--loops", "1", "from 2 on"),
    ("xla", "--steps", "0", "from 1 on"),
    ("xla", "--max_tokens", "0", "from 1 on"),
    ("__main__", "--comments", "0", "from 1 on"),
    ("__main__", "--output", "nowhere/page.md", "a file in a folder that is there"),
]


@pytest.fixture
def start(monkeypatch, capsys):
    """Start a benchmark that must end at once; return its last line."""

    def run(program, *options):
        main = importlib.import_module(f"benchmarks.{program}").main
        monkeypatch.setattr(sys, "argv", [program, *NEEDED.get(program, []), *options])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert not said.out
        if isinstance(ended.value.code, str):
            return ended.value.code
        assert ended.value.code == 2
        return said.err.splitlines()[-1]

    return run


@pytest.mark.parametrize(("program", "option", "value", "said"), WRONG)
def test_an_option_out_of_its_range_is_refused_by_name(start, program, option, value, said):
    line = start(program, option, value)
    assert f"error: argument {option}: " in line
    assert value in line
    assert said in line


def test_the_heads_divide_the_hidden_size(start):
    assert "--hidden 256: no multiple of --heads 3" in start("transformer", "--heads", "3")
    assert "nowhere-*': no such files" in start("transformer", "--pairs", "nowhere-*")


def test_too_few_pairs_are_told_before_anything_is_trained(start, tmp_path):
    import tensorflow as tf

    empty = tmp_path / "train-0"
    with tf.io.TFRecordWriter(str(empty)) as writer:
        writer.write(b"")
    assert "1023 pairs are 1 batches of 512" in start("encoders", "--train_pairs", "1023")
    assert "515 pairs are 1 batches of 512; 2 are needed" in start(
        "ablations", "--train_pairs", "1030"
    )
    line = start("training", "--pairs", str(empty))
    assert "hold 1 records; one batch has 256" in line
    assert "matches no file" in start("training", "--pairs", str(tmp_path / "nowhere-*"))
    assert "no pairs in train-*" in start("evaluation", "--pairs", str(tmp_path / "nowhere"))
