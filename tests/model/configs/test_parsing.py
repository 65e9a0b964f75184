"""Parameters that are refused, each by its name; presets; and the page that explains them all."""

import re
from pathlib import Path

import pytest

from common.errors import InputError
from model.__main__ import main
from model.configs import EXPERIMENTS, parsing, reference, schema

OPTIMIZER = "trainer__optimizer_config__optimizer"
RATE = "trainer__optimizer_config__learning_rate"
SIZES = "task__model__encoder__transformer"
TRANSFORMER = {"task__model__encoder__type": "transformer"}
AVERAGED = {"trainer__average_decay": 0.9}
SERVERS = {"runtime__distribution_strategy": "parameter_server"}
STEPWISE = {f"{RATE}__type": "stepwise", f"{RATE}__stepwise__boundaries": "[20]"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        # out of range
        ({"task__model__encoder__averaging__hidden": "[8,0]"}, r"averaging.hidden: \[8, 0\]"),
        ({"task__model__encoder__averaging__word_dropout": 1}, "averaging.word_dropout: 1"),
        ({f"{OPTIMIZER}__type": "lamb"}, "optimizer.type: 'lamb'"),
        # of a layer that there is none of
        ({"task__model__encoder__averaging__activation": "tahn"}, "averaging.activation: 'tahn'"),
        # lacking where its section is chosen
        ({f"{RATE}__type": "polynomial"}, "polynomial.initial_learning_rate: None"),
        # of another type
        ({"task__model__score_scale": "abc"}, "task.model.score_scale: 'abc'"),
        ({"task__model__encoder__averaging__hidden": 300}, "averaging.hidden: 300"),
        ({"task__model": 5}, "task.model: 5"),
        # unknown
        ({"task__model__encoder__averaging__hiden": 1}, "hiden: .* task.model.encoder.averaging.h"),
        ({"train_steps": 1}, "train_steps: .*trainer.train_steps"),
        # inherited and not read, or of another choice
        ({"task__train_data__cache": True}, "task.train_data.cache: True"),
        ({"trainer__optimizer_config__ema__average_decay": 0.9}, "optimizer_config.ema: "),
        ({"task__validation_data__shuffle_buffer_size": 7}, "validation_data.shuffle_buffer_size"),
        ({f"{OPTIMIZER}__adam__beta_1": 0.5}, "optimizer.adam has no effect; .*type is 'adagrad'"),
        # cross-checks, each of its section
        (TRANSFORMER | {f"{SIZES}__hidden": 10, f"{SIZES}__heads": 4}, "transformer.hidden: 10"),
        (TRANSFORMER | {"task__model__text__char_ngram_buckets": 100}, "char_ngram_buckets: 100"),
        ({"task__model__heads": "[nli,response_selection]"}, r"heads: \['nli', 'response"),
        ({"task__model__heads": "[]"}, r"heads: \[\]"),
        ({"task__objective__margin": 3}, "objective.margin: 3"),
        ({"task__train_data__batch_sizes": "[8]"}, "train_data.batch_boundaries"),
        ({"task__word_vectors": "w.txt", "task__init_checkpoint": "run"}, "word_vectors: 'w.txt'"),
        ({"task__char_ngram_fit": 3.0}, "task.char_ngram_fit: 3.0"),
        (STEPWISE | {f"{RATE}__stepwise__values": "[0.1]"}, "stepwise.values"),
        (STEPWISE | {f"{RATE}__stepwise__boundaries": "[20,10]"}, "stepwise.boundaries"),
        ({"trainer__validation_steps": 0}, "trainer.validation_steps: 0"),
        (AVERAGED | {"trainer__average_every": 9, "trainer__train_steps": 8}, "average_every: 9"),
        (SERVERS | {"runtime__num_gpus": 2}, "runtime.num_gpus: 2"),
        (SERVERS | AVERAGED, "trainer.average_decay: 0.9"),
        (SERVERS | {"task__objective__negatives_across_replicas": True}, "across_replicas: True"),
    ],
)
def test_what_a_parameter_does_not_accept_is_named(parse, changes, named):
    with pytest.raises(InputError, match=named):
        parse(**changes)


def test_with_parameter_servers_each_task_has_a_share(parse):
    with pytest.raises(InputError, match=r"task.nli.share: 0.0"):
        parse("reddit_nli", task__nli__share=0.0, **SERVERS)
    with pytest.raises(InputError, match=r"task.nli.share: 0.6"):
        parse("reddit_nli_teacher", task__nli__share=0.6)


@pytest.mark.parametrize(
    "text",
    [
        "- a list\n",
        "a: [unclosed\n",
        "task: {seed: 1}\ntrainer:\n  a: 1\ntask: {}\n",
        "task: {model: {score_scale: 1, score_scale: 2}}\n",
        "trainer: {train_stepz: 5}\n",
        "\udcff",
    ],
)
def test_a_file_that_gives_no_parameters_is_named(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=str(path)):
        parsing.parse(experiment="reddit", config_files=[str(path)])


def test_a_flag_may_choose_otherwise_than_a_file(parse):
    """What the file says of the other choice is then of no use, and needs no removal."""
    optimizer = parse(**{f"{OPTIMIZER}__type": "sgd"}).trainer.optimizer_config.optimizer
    assert optimizer.type == "sgd"
    assert optimizer.adagrad.initial_accumulator_value == 1e-6


def test_flags_in_order_blank_texts_and_indentation():
    overrides = ["    trainer.train_steps=7,    task.seed=3\n", "task.seed=4,task.sts_dev=", ""]
    overrides.append("task.train_data.input_path=")
    params = parsing.parse(experiment="reddit", params_override=overrides)
    assert (params.trainer.train_steps, params.task.seed, params.task.sts_dev) == (7, 4, "")


@pytest.mark.parametrize("value", ["a/train-*,b/train-*", "a/train-[0-4]*"])
def test_values_with_commas_and_brackets_are_quoted(value):
    name = "task.train_data.input_path"
    with pytest.raises(InputError, match="--params_override"):
        parsing.parse(experiment="reddit", params_override=f"{name}={value},task.seed=3")
    for quoted in (f"'{value}'", f'"{value}"'):
        params = parsing.parse(experiment="reddit", params_override=f"{name}={quoted},task.seed=3")
        assert (params.task.train_data.input_path, params.task.seed) == (value, 3)


@pytest.mark.parametrize("name", ["laptop_dan", "laptop_dan.yaml"])
def test_a_preset_is_named_without_its_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parsing.parse(experiment="reddit", config_files=[name]).trainer.train_steps == 1830
    (tmp_path / name).write_text("trainer: {train_steps: 3}")  # a file of that name comes first
    assert parsing.parse(experiment="reddit", config_files=[name]).trainer.train_steps == 3
    with pytest.raises(InputError, match=r"laptop_dam: .*demo_dan"):
        parsing.parse(experiment="reddit", config_files=["laptop_dam"])
    with pytest.raises(InputError, match="--experiment: 'redit'"):
        parsing.parse(experiment="redit")


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("{model: {score_scale: 2}}", ["response_selection"]),
        ("{model: {nli: {hidden: [16]}}}", ["nli"]),
        ("{model: {nli: {}}, nli: {share: 0.1}}", ["response_selection", "nli"]),
        ("{model: {nli: {}, response_network: {}}}", ["response_selection", "nli"]),
        ("{model: {nli: {}, heads: [response_selection]}}", ["response_selection"]),
    ],
)
def test_the_heads_of_a_model_follow_from_its_sections(tmp_path, text, heads):
    path = tmp_path / "mine.yaml"
    path.write_text(f"task: {text}")
    assert parsing.parse_model(str(path)).heads == heads


@pytest.mark.parametrize(
    "text",
    ["task: {model: {score_scael: 3}}", "task: {model: {score_scale: 0}}", "task: {}", "task: 1"],
)
def test_a_file_without_a_model_is_refused(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"task.model"):
        parsing.parse_model(str(path))


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_printed_configuration_gives_the_same_run(flags, parse, tmp_path, capsys, experiment):
    given = flags(experiment)
    if experiment == "reddit":
        del given["experiment"]  # the default
    main([*(f"--{name}={value}" for name, value in given.items()), "--print_config"])
    path = tmp_path / "printed.yaml"
    path.write_text(capsys.readouterr().out)
    again = parsing.parse(experiment=experiment, config_files=[str(path)])
    assert again.as_dict() == parse(experiment).as_dict()


@pytest.mark.parametrize("given", [["--experiment", "reddit"], ["--mode", "train"]])
def test_a_run_needs_an_experiment_a_mode_and_a_folder(given):
    with pytest.raises(SystemExit, match="--model_dir"):
        main(given)


FOLDER = Path(schema.__file__).parent / "presets"
PAGE = Path(__file__).parents[3] / "docs" / "parameters.md"
PRESETS = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(preset):
    """A preset, with the experiment that the command in its head names."""
    path = FOLDER / f"{preset}.yaml"
    command = re.search(r"^#.*--experiment (\w+)", path.read_text(), re.MULTILINE)
    experiment = command[1] if command else "reddit"
    return parsing.parse(experiment=experiment, config_files=[str(path)])


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fits_its_experiment_and_says_what_it_is(preset):
    load(preset)
    head = (FOLDER / f"{preset}.yaml").read_text().partition("\ntask:")[0]
    assert head.startswith("# ")
    assert "#   make " in head or f"model/configs/presets/{preset}.yaml" in head
    assert re.search("score|Expected|accuracy", head)


@pytest.mark.parametrize(
    ("preset", "changes_at", "steps"),
    [
        ("paper_dan", 30_000_000, 40_000_000),
        ("paper_transformer", 30_000_000, 40_000_000),
        ("paper_transformer_nli", 20_000_000, 30_000_000),
    ],
)
def test_the_papers_training(preset, changes_at, steps):
    params = load(preset)
    data = [params.task.train_data]
    if preset.endswith("nli"):
        data.append(params.task.nli.train_data)
        assert params.task.nli.share == 0.05
        assert params.task.model.nli.hidden == [512]
        assert not params.task.model.nli.scale_by_root_of_dim
    for each in data:
        assert each.global_batch_size == 128
        assert (each.batch_boundaries, each.batch_sizes) == ([changes_at], [256])
    assert params.trainer.train_steps == steps
    assert params.trainer.optimizer_config.optimizer.type == "sgd"
    schedule = params.trainer.optimizer_config.learning_rate.get()
    assert schedule.boundaries == [changes_at]
    assert schedule.values == [0.01, 0.001]
    assert params.task.objective == schema.Objective()
    assert not params.task.model.learned_score_scale
    assert params.task.model.score_scale == 1.0


def test_the_page_is_up_to_date_and_explains_each_parameter():
    page = reference.page()
    assert PAGE.read_text() == page, "run: python -m model.configs.reference > docs/parameters.md"
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line[:3] == "| `"]
    assert len(rows) > 100
    for name, kind, default, _, meaning in rows:
        assert kind, name
        assert default.strip("`"), name
        assert meaning.endswith("."), name
    dropped = "Fraction of words dropped in training."
    assert ["`word_dropout`", "number", "`0.0`", "from 0 below 1", dropped] in rows
