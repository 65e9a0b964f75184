"""`make reproduce` as it would run: what it refuses, and that every command of it can be read."""

import re
import shlex
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from benchmarks import __main__ as every_benchmark
from benchmarks import ablations, runs
from evaluation.__main__ import parser as evaluation_parser
from model.configs import parsing

REPOSITORY = Path(__file__).parents[1]
FILES = (
    *("reddit/RC_2015-02.zst", "reddit/RC_2015-03.zst"),
    *(f"stsb/sts-{split}.csv" for split in ("train", "dev", "test")),
    *(f"nli/snli_1.0_{split}.jsonl.gz" for split in ("train", "dev", "test")),
    "semeval_cqa/dev.xml",
)


@pytest.fixture
def data(tmp_path):
    for name in FILES:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "data"


def make(*arguments):
    return subprocess.run(
        ["make", *map(str, arguments)], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


def commands(data, *more, goal="reproduce"):
    """The commands that would run, by their programs, such as `evaluation sts`."""
    # Into other folders than one's own runs.
    done = make("-n", goal, f"DATA={data}", f"R={data}/runs", f"B={data}/benchmark", *more)
    assert done.returncode == 0, done.stderr
    text = done.stdout.replace("\\\n", " ").replace("$(nproc)", "2")
    return [
        shlex.split(line)[2:]
        for line in text.splitlines()
        if " -m " in line and " -m pip " not in line
    ]


def test_what_is_lacking_is_named(data):
    assert make("has_data", f"DATA={data}").returncode == 0
    (data / "nli" / "snli_1.0_test.txt").touch()
    assert "has several files nli/*test*" in make("has_data", f"DATA={data}").stdout
    (data / "stsb" / "sts-train.csv").unlink()
    refused = make("has_data", f"DATA={data}")
    assert refused.returncode != 0
    assert f"error: DATA='{data}' has no stsb/sts-train.csv" in refused.stdout
    alone = make("has_data", f"DATA={data}", "HELD_OUT=RC_2015")
    assert alone.returncode != 0


def trainings(data):
    """The parameters of every training, by its folder's name."""
    found = {}
    for command in commands(data):
        if command[0] != "model":
            continue
        options = dict(zip(command[1::2], command[2::2], strict=True))
        found[Path(options["--model_dir"]).name] = parsing.parse(
            experiment=options["--experiment"],
            config_files=[options["--config_file"]],
            params_override=options["--params_override"],
        )
    return found


def test_every_training_has_parameters_that_exist(data):
    found = trainings(data)
    seeds = {name: params.task.seed for name, params in found.items()}
    assert seeds == {
        **{f"{row}-{seed}": seed for row in ("reddit", "reddit_nli") for seed in range(3)},
        **{"transformer-0": 0, "bilstm_max_nli-0": 0},
        **{f"growth_{share}-0": 0 for share in (1, 3, 10, 30)},
    }
    assert found["growth_3-0"].task.train_data.input_path.endswith("train-0000[0-2]-*")
    assert found["growth_30-0"].trainer.optimizer_config.warmup.linear.warmup_steps == 210
    both = found["reddit_nli-1"].task
    assert both.init_checkpoint.endswith("models/reddit-1")
    of_inference = [found["bilstm_max_nli-0"].task.train_data, both.nli.train_data]
    twice = f"{data}/runs/nli/train/nli-*,{data}/runs/nli/again/nli-*"
    assert [one.input_path for one in of_inference] == [twice, twice]
    reddit = found["reddit-1"].task
    # As it dropped words for, so that every variable has its counterpart.
    both.model.encoder.averaging.word_dropout = reddit.model.encoder.averaging.word_dropout
    for name in ("encoder", "text", "response_network"):
        assert getattr(both.model, name) == getattr(reddit.model, name)


def test_the_ablations_are_of_these_recipes(data):
    (data / "runs" / "pairs").mkdir(parents=True)
    (data / "runs" / "pairs" / "validation-0").touch()
    (command,) = (c for c in commands(data, goal="ablations") if c[0] == "benchmarks.ablations")
    given = ablations.parser().parse_args(command[1:])
    found = trainings(data)
    of_selection, of_inference = ablations.recipes(given, Path("a/model"))
    for (recipe, way), name in ((of_selection, "reddit-0"), (of_inference, "reddit_nli-0")):
        override = ablations.override_of(recipe.ways[ablations.AS_IT_STANDS[0]], way)
        params = parsing.parse(
            experiment=recipe.experiment,
            config_files=[str(runs.CONFIGS / f"{recipe.preset}.yaml")],
            params_override=",".join(f"{key}={value}" for key, value in override.items()),
        )
        same, reproduced = params.as_dict(), found[name].as_dict()
        assert abs(same["trainer"]["train_steps"] - reproduced["trainer"]["train_steps"]) <= 1
        # What is looked at when differs, and where a model that inference begins with lies.
        for one in (same, reproduced):
            assert one["task"].pop("init_checkpoint") == "" or name == "reddit_nli-0"
            rate = one["trainer"]["optimizer_config"]["learning_rate"]["polynomial"]
            assert rate.pop("decay_steps") == one["trainer"]["train_steps"]
            warmup = one["trainer"]["optimizer_config"]["warmup"]
            one["trainer"] = [rate, warmup, one["trainer"]["optimizer_config"]["optimizer"]]
        assert same == reproduced


def test_the_benchmarks_are_asked_for_what_they_accept(data):
    asked = commands(data, "PEER_PYTHON=python", goal="benchmark")
    (command,) = (c for c in asked if c[0] == "benchmarks")
    given = every_benchmark.parser().parse_args(command[1:])
    assert {one.program for one in every_benchmark.benchmarks(given)} > {"pipeline", "encoding"}
    assert given.peer_python
    (export,) = (c for c in asked if c[0] == "export")
    assert "--sts" not in export  # no test set is read for a module that nobody keeps


def test_a_model_to_compare_with_needs_its_package(data):
    refused = make("has_data", f"DATA={data}", "SENTENCE_TRANSFORMERS=x", "RUN=false")
    assert refused.returncode != 0
    assert "error: SENTENCE_TRANSFORMERS='x' needs the package" in refused.stdout
    (baselines,) = (c for c in commands(data, "MINILM=a/model") if c[1] == "baselines")
    at = baselines.index("--sentence_transformers")
    assert baselines[at + 1] == "all-MiniLM-L6-v2=a/model"


def is_taken(pair_id, command):
    """Whether a command of `snli` takes a pair, by its --pair_ids."""
    patterns = command[command.index("--pair_ids") + 1 : command.index("--exclude_texts")]
    return any(fnmatchcase(pair_id, pattern) for pattern in patterns)


def test_every_row_is_scored_and_nothing_held_out_is_trained_on(data):
    scored, made = set(), {}
    for command in commands(data):
        if command[0] == "evaluation":
            arguments = evaluation_parser().parse_args(command[1:])
            if command[1] in ("response_ranking", "snli", "sts", "cqa"):
                scored.add((command[1], Path(arguments.output).name))
        if command[0] == "data_pipeline":
            folder = Path(command[command.index("--output") + 1]).name
            made[folder] = command
    for folder in ("pairs", "train", "again"):
        excluded = made[folder][made[folder].index("--exclude_texts") :]
        assert len([word for word in excluded if re.search(r"sts-\w+\.csv", word)]) == 3
        assert [word for word in excluded if "snli_1.0_test" in word]
    # The pairs of inference by their ids: of this file's sources, and of SNLI as it is published.
    ids = ("snlidev-1", "cad-2", "sick-3", "4705552913.jpg#2r1n")
    assert [one for one in ids if is_taken(one, made["train"])] == [ids[0], ids[1], ids[3]]
    assert [one for one in ids if is_taken(one, made["again"])] == [ids[0], ids[3]]
    assert not [word for word in made["pairs"] if "2015-03" in word]
    for row in ("reddit-0", "reddit-2", "reddit_nli-1", "transformer-0"):
        assert {(task, row) for task in ("response_ranking", "snli", "sts", "cqa")} < scored
    assert {("snli", "bilstm_max_nli-0"), ("sts", "bilstm_max_nli-0")} < scored
    assert {("response_ranking", "growth_100-0"), ("sts", "growth_1-0")} < scored


def test_another_seed_is_another_row(data):
    folders = [word for command in commands(data, "SEEDS=0 7") for word in command]
    assert any(word.endswith("models/reddit_nli-7") for word in folders)
    assert not any(word.endswith("models/reddit-1") for word in folders)


def test_no_pair_of_inference_is_read_twice_where_none_is_named(data):
    def read_again(*more):
        return [word for command in commands(data, *more) for word in command if "again" in word]

    assert len(read_again("NLI_AGAIN=sn*")) > 1
    assert read_again("NLI_AGAIN=") == []
