"""What a benchmark cannot measure is refused before it measures anything."""

import importlib
import sys

import pytest

NEEDED = {
    "quality.ablations": ["--runs", "runs"],
    "speed.encoding": ["--module", "module", "--pairs", "pairs", "--peer_python", sys.executable],
    "speed.evaluation": ["--module", "module", "--pairs", "pairs"],
    "speed.variants": ["--modules", "modules"],
    "speed.pipeline": ["--dumps", "RC_*"],
    "speed.scaling": ["--pairs", __file__],
    "speed.training": ["--pairs", __file__, "--vocabulary", "."],
    "__main__": [
        *("--dumps", "RC_*", "--runs", "runs", "--data_dir", "data", "--output", "page.md"),
    ],
}
WRONG = [
    ("quality.ablations", "--output", "nowhere/page.md", "a file in a folder that is there"),
    ("speed.encoding", "--sentences", "4095", "of at least 4096"),
    ("speed.encoding", "--rounds", "0", "of at least 1"),
    ("speed.encoding", "--seconds", "nan", "finite numbers above 0"),
    ("speed.encoding", "--seconds", "0", "finite numbers above 0"),
    ("speed.encoding", "--peer_python", "nowhere/python", "a program that can be started"),
    ("speed.evaluation", "--sentences", "0", "of at least 1"),
    ("speed.evaluation", "--times", "0", "of at least 1"),
    ("speed.variants", "--rounds", "0", "of at least 1"),
    ("speed.pipeline", "--comments", "0", "of at least 1"),
    ("speed.scaling", "--steps", "1", "of at least 2"),
    ("speed.scaling", "--batch", "0", "of at least 1"),
    ("speed.scaling", "--preset", "nowhere", "laptop_dan"),
    ("speed.training", "--minilm_steps", "1", "of at least 2"),
    ("speed.training", "--peer_steps", "20", "of at least 21"),
    ("speed.training", "--steps", "1", "of at least 2"),
    ("speed.training", "--batch", "0", "of at least 1"),
    ("speed.training", "--rounds", "0", "of at least 1"),
    ("speed.training", "--rounds", "two", "of at least 1"),
    ("speed.training", "--vocabulary", "nowhere", "'nowhere': no such folder"),
    ("speed.training", "--peer_python", "nowhere/python", "a program that can be started"),
    ("speed.transformer", "--layers", "0", "of at least 1"),
    ("speed.transformer", "--words", "1", "of at least 2"),
    ("speed.transformer", "--batch", "1", "of at least 2"),
    ("speed.transformer", "--steps", "0", "of at least 1"),
    ("__main__", "--comments", "0", "of at least 1"),
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
    assert "--hidden 256: no multiple of --heads 3" in start("speed.transformer", "--heads", "3")


def test_pairs_that_are_not_there_are_named_before_anything_is_trained(start, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    assert "nowhere-*': no such files" in start("speed.training", "--pairs", f"{nowhere}-*")
    assert "no pairs in train-*" in start("speed.evaluation", "--pairs", nowhere)
