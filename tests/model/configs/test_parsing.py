"""Parameters that are refused, each by its name; and what may be left out."""

import dataclasses
import typing
from pathlib import Path

import pytest
import yaml
from official.core import config_definitions
from official.modeling import hyperparams

from model.__main__ import main
from model.configs import parsing, schema, unused
from model.configs import ranges as numbers
from model.configs.experiments import EXPERIMENTS
from model.errors import InputError

OPTIMIZER = "trainer__optimizer_config__optimizer"
RATE = "trainer__optimizer_config__learning_rate"
WARMUP = "trainer__optimizer_config__warmup"
TRANSFORMER = {"task__model__encoder__type": "transformer"}
SIZES = "task__model__encoder__transformer"
POLYNOMIAL = {
    f"{RATE}__type": "polynomial",
    f"{RATE}__polynomial__initial_learning_rate": 0.1,
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({f"{RATE}__constant__learning_rate": "1e9"}, "1000000000.0; accepted: numbers above 0"),
        ({f"{RATE}__constant__learning_rate": -0.1}, "learning_rate: -0.1; accepted: numbers"),
        ({f"{RATE}__constant__learning_rate": ".nan"}, "learning_rate: nan; accepted: numbers"),
        ({f"{RATE}__constant__learning_rate": ".inf"}, "learning_rate: inf; accepted: "),
        (
            POLYNOMIAL | {f"{RATE}__polynomial__end_learning_rate": -1},
            "polynomial.end_learning_rate: -1; accepted: numbers from 0 to 100",
        ),
        ({f"{RATE}__type": "polynomial"}, "initial_learning_rate: None; accepted: numbers"),
        ({f"{WARMUP}__type": "linear"}, "warmup.linear.warmup_steps: None; accepted: whole"),
        ({"task__model__score_scale": 0}, "task.model.score_scale: 0; accepted: numbers above"),
        ({"task__model__score_scale": ".nan"}, "score_scale: nan; accepted: numbers above 0"),
        ({"task__objective__margin": -0.3}, "margin: -0.3; accepted: numbers of at least 0"),
        ({"task__objective__margin": 3}, "margin: 3; .*normalize are numbers from 0 to 2"),
        ({"task__model__encoder__averaging__word_dropout": ".nan"}, "word_dropout: nan; accepted"),
        ({"task__model__encoder__averaging__hidden": "[8,0]"}, "averaging.hidden: 0; accepted"),
        (
            {"task__seed": 10**8},
            "task.seed: 100000000; accepted: whole numbers from 0 to 9000000",
        ),
        ({"trainer__max_to_keep": 0}, "trainer.max_to_keep: 0; accepted: whole numbers of at"),
        ({"trainer__validation_steps": 0}, "validation_steps: 0; accepted: .* or -1 for all"),
        ({f"{OPTIMIZER}__adagrad__epsilon": -1}, "adagrad.epsilon: -1; accepted: numbers above"),
        ({f"{OPTIMIZER}__adagrad__clipnorm": 0}, "clipnorm: 0; accepted: .* above 0, or null"),
        (
            {f"{OPTIMIZER}__type": "sgd", f"{OPTIMIZER}__sgd__momentum": 1.5},
            "sgd.momentum: 1.5; accepted: numbers from 0 to below 1",
        ),
        ({"task__model__heads": "[ranking]"}, r"task.model.heads: \['ranking'\]; accepted: one"),
        (
            {"task__model__heads": "[nli,response_selection]"},
            r"heads: \['nli', 'response_selection'\]; accepted: response_selection, which",
        ),
        (
            {"runtime__distribution_strategy": "Parameter_Server"},
            "distribution_strategy: 'Parameter_Server'; accepted: 'parameter_server'",
        ),
        ({"task__model__heads": "[nli]"}, r"heads: \['nli'\] lacks response_selection, which the"),
        (
            TRANSFORMER | {f"{SIZES}__hidden": 9, f"{SIZES}__heads": 1},
            "transformer.hidden: 9; accepted: even numbers that can be divided by its heads, 1",
        ),
        (
            TRANSFORMER | {f"{SIZES}__hidden": 10, f"{SIZES}__heads": 4},
            "transformer.hidden: 10; accepted: even numbers that can be divided by its heads, 4",
        ),
        (
            {
                f"{RATE}__type": "stepwise",
                f"{RATE}__stepwise__boundaries": "[20,10]",
                f"{RATE}__stepwise__values": "[0.1,0.01,0.001]",
            },
            r"learning_rate.stepwise.boundaries: \[20, 10\]; accepted: rising steps",
        ),
    ],
)
def test_a_number_outside_its_range_is_named(parse, changes, said):
    with pytest.raises(InputError, match=said):
        parse(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"task__model__score_scale": "abc"},
            "task.model.score_scale: 'abc'; accepted: a number",
        ),
        (
            {"task__model__encoder__averaging__hidden": 300},
            r"averaging.hidden: 300; accepted: a list of whole numbers, such as \[300, 300\]",
        ),
        (
            {"task__model__encoder__averaging__hidden": "[a]"},
            r"hidden: \['a'\]; accepted: a list",
        ),
        ({"task__model__text__max_tokens": 8.5}, "max_tokens: 8.5; accepted: a whole number"),
        ({"task__seed": True}, "task.seed: True; accepted: a whole number"),
        ({"task__model__learned_score_scale": 1}, "learned_score_scale: 1; accepted: true or"),
        ({"task__sts_dev": 2015}, "task.sts_dev: 2015; accepted: text, quoted if"),
        ({"task__model": 5}, "task.model: 5; accepted: its parts: text, encoder"),
        ({"task__train_data__cycle_length": "x"}, "'x'; accepted: a whole number or null"),
        ({f"{RATE}__stepwise__values": 0.1}, r"a list of numbers, such as \[0.01, 0.001\] or null"),
    ],
)
def test_a_value_of_another_type_is_named_with_the_type(parse, changes, said):
    with pytest.raises(InputError, match=rf"^--params_override: .*{said}"):
        parse(**changes)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("task__model__encoder__averaging__hiden", "task.model.encoder.averaging.hidden"),
        ("task__model__averaging__word_dim", "task.model.encoder.averaging"),
        ("train_steps", "trainer.train_steps"),
        ("trainer__learning_rate", "trainer.optimizer_config.learning_rate"),
    ],
)
def test_of_an_unknown_key_the_nearest_are_named(parse, key, nearest):
    with pytest.raises(InputError, match="is not a parameter; the nearest: ") as raised:
        parse(**{key: 1})
    said = str(raised.value)
    assert nearest in said
    assert "all are in docs/parameters.md" in said
    assert len(said) < 350


def test_a_file_is_named_with_its_unknown_key(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("trainer: {train_stepz: 5}\n")
    with pytest.raises(InputError, match=rf"--config_file {path}: 'trainer.train_stepz' is no"):
        parsing.parse(experiment="reddit", config_files=[str(path)])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a list\n", "it holds no names"),
        ("a: [unclosed\n", "line 2: expected ',' or ']'"),
        ("a:\n  b: 1\n c: 2\n", "line 3: expected <block end>"),
        (
            "task: {seed: 1}\ntrainer:\n  a: 1\ntask: {}\n",
            "line 4: 'task' is already set on line 1",
        ),
        ("- b:\n    c: 1\n    d: 2\n    c: 3\n", "line 4: 'c' is already set on line 2"),
        ("trainer:\n  train_steps: 0500\n", "line 2: '0500' would be read in base 8; accepted"),
        ("task: {seed: [1, 10:30]}\n", "line 1: '10:30' would be read in base 60; accepted"),
        ("task: &t\n  model: *t\n", "an alias stands for a section that it is in"),
        ("\udcff", ""),
    ],
)
def test_a_file_that_gives_no_parameters_is_named(tmp_path, text, reason):
    path = tmp_path / "mine.yaml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=rf"^--config_file {path} gives no parameters: {reason}"):
        parsing.parse(experiment="reddit", config_files=[str(path)])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task__train_data__cache": True}, "task.train_data.cache: True has no effect here"),
        ({"task__train_data__seed": 5}, "train_data.seed: 5 has no effect .*; task.seed draws"),
        ({"task__train_data__drop_remainder": False}, "drop_remainder: False has no effect"),
        ({"task__validation_data__shuffle_buffer_size": 7}, "validation_data.shuffle_buffer_size"),
        ({"task__train_data__is_training": False}, "is_training: False .* accepted: True"),
        ({"task__validation_data__is_training": True}, "is_training: True .* accepted: False"),
        ({"runtime__run_eagerly": True}, "runtime.run_eagerly: True has no effect"),
        ({"runtime__loss_scale": "dynamic"}, "loss_scale.* only with .*float16"),
        *(
            (
                {"runtime__mixed_precision_dtype": "float16", "runtime__loss_scale": scale},
                "runtime.loss_scale: .*; accepted: dynamic, or a finite number above 0",
            )
            for scale in ("static", 0, -1.0, float("nan"), float("inf"))
        ),
        (
            {"runtime__distribution_strategy": "parameter_server", "runtime__num_gpus": 2},
            "num_gpus: 2; accepted with .*parameter_server: 0, or 1 for each worker",
        ),
        ({"runtime__tpu": "local"}, "runtime.tpu: 'local' has no effect"),
        ({"trainer__train_tf_function": False}, "trainer.train_tf_function: False has no effect"),
        ({"trainer__recovery_max_trials": 3}, "recovery_max_trials: 3 has no effect"),
        (
            {"trainer__optimizer_config__ema__average_decay": 0.9},
            "ema: a section has no .*average_decay keeps",
        ),
        ({"task__allow_image_summary": True}, "task.allow_image_summary: True has no effect"),
        (
            {f"{OPTIMIZER}__adam__beta_1": 0.5},
            "optimizer.adam has no effect, since .*optimizer.type is 'adagrad'; choose",
        ),
        ({f"{RATE}__polynomial__decay_steps": 9}, "learning_rate.polynomial has no effect"),
        ({"task__model__encoder__recurrent__units": 9}, "encoder.recurrent has no effect"),
        ({f"{OPTIMIZER}__type": "lars"}, "optimizer.type: 'lars' cannot train these models"),
        *(
            ({f"{RATE}__type": name}, f"learning_rate.type: '{name}' gives wrong rates")
            for name in ("power_with_offset", "step_cosine_with_offset")
        ),
        (
            {
                "task__model__encoder__type": "transformer",
                "task__model__text__char_ngram_buckets": 100,
            },
            "char_ngram_buckets: 100 has no effect; only an averaging encoder",
        ),
        (
            {
                "trainer__best_checkpoint_eval_metric": "p_at_1",
                "trainer__best_checkpoint_metric_comp": "lower",
            },
            "'lower' p_at_1 is worse; accepted: higher",
        ),
        (
            {
                f"{OPTIMIZER}__type": "adafactor_keras",
                f"{OPTIMIZER}__adafactor_keras__learning_rate": 50,
            },
            "adafactor_keras.learning_rate: 50.* has no effect; the section",
        ),
        ({f"{OPTIMIZER}__type": "adm"}, "optimizer.type: 'adm'; accepted: sgd, .*adam"),
        (
            {"trainer__average_decay": 0.9, "trainer__average_every": 9, "trainer__train_steps": 8},
            "average_every: 9; accepted: at most trainer.train_steps, 8",
        ),
        (
            {
                "trainer__average_decay": 0.9,
                "trainer__average_every": 9,
                "trainer__validation_interval": 8,
            },
            "average_every: 9; accepted: at most trainer.validation_interval, 8",
        ),
        (
            {"task__word_vectors": "words.txt", "task__init_checkpoint": "run"},
            "word_vectors: 'words.txt' has no effect; it is read only without task.init_checkpoint",
        ),
        (
            {
                "task__objective__negatives_across_replicas": True,
                "runtime__distribution_strategy": "parameter_server",
            },
            "negatives_across_replicas: parameter servers step each worker alone; accepted with",
        ),
        ({"trainer__best_checkpoint_metric_comp": "max"}, "'max'; accepted: higher, lower"),
        ({"trainer__best_checkpoint_metric_comp": "lower"}, "'lower' of no metric; accepted with"),
        (
            {"trainer__best_checkpoint_eval_metric": "validation_loss"},
            "'higher' validation_loss is worse; accepted: lower",
        ),
    ],
)
def test_what_would_be_ignored_is_refused(parse, changes, said):
    with pytest.raises(InputError, match=said):
        parse(**changes)


def test_the_address_of_a_tpu_may_stand_in_a_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("runtime: {distribution_strategy: tpu, tpu: 'grpc://here:1'}\n")
    given = {"experiment": "reddit", "config_files": [str(path)]}
    assert parsing.parse(**given).runtime.tpu == "grpc://here:1"
    assert parsing.parse(**given, tpu="grpc://there:1").runtime.tpu == "grpc://there:1"


def test_a_flag_may_choose_otherwise_than_a_file(parse):
    """What the file says of the other choice is then of no use, and needs no removal."""
    optimizer = parse(**{f"{OPTIMIZER}__type": "sgd"}).trainer.optimizer_config.optimizer
    assert optimizer.type == "sgd"
    assert optimizer.adagrad.initial_accumulator_value == 1e-6


def reachable(config, where=""):
    """All sections, of every choice."""
    yield where, config
    for name, part in vars(config).items():
        if isinstance(part, hyperparams.Config):
            yield from reachable(part, f"{where}{name}.")


def is_number(kind):
    kinds = {kind, *typing.get_args(kind)}
    return bool({int, float, list[int], list[float], typing.List[int], typing.List[float]} & kinds)  # noqa: UP006


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_number_has_a_range_or_is_never_read(parse, experiment):
    checked_elsewhere = {"trainer.validation_steps", "runtime.loss_scale"}
    for where, config in reachable(parse(experiment)):
        ranges = numbers.accepted(config)
        bases = [base for base in unused.READ if isinstance(config, base)]
        ignored = {
            field.name
            for base in bases
            for field in dataclasses.fields(base)
            if field.name not in unused.READ[base]
        }
        for name, kind in typing.get_type_hints(type(config)).items():
            if is_number(kind) and name not in ignored:
                assert name in ranges or f"{where}{name}" in checked_elsewhere, f"{where}{name}"


def test_what_is_read_exists():
    for base, names in unused.READ.items():
        assert names <= {field.name for field in dataclasses.fields(base)}
    assert set(unused.READ) > {config_definitions.RuntimeConfig}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_params_of_a_run_are_parameters_again(parse, tmp_path, experiment):
    path = tmp_path / "params.yaml"
    params = parse(experiment)
    path.write_text(yaml.safe_dump(params.as_dict()))
    again = parsing.parse(experiment=experiment, config_files=[str(path)])
    assert again.as_dict() == params.as_dict()


def test_the_list_that_messages_name_is_there():
    assert Path(schema.__file__).as_posix().endswith("model/configs/schema.py")


def test_a_blank_text_is_an_empty_one(parse):
    assert parse(task__sts_dev="").task.sts_dev == ""


def test_a_command_may_be_copied_with_the_indentation_of_its_lines():
    override = "    trainer.train_steps=7,    task.seed=3\n"
    params = parsing.parse(experiment="reddit", params_override=override)
    assert (params.trainer.train_steps, params.task.seed) == (7, 3)


def test_a_file_and_other_overrides_may_stand_side_by_side(tmp_path):
    path = tmp_path / "o.yaml"
    path.write_text("task: {seed: 3}\ntrainer: {train_steps: 7}\n")
    params = parsing.parse(experiment="reddit", params_override=[str(path), "task.seed=4"])
    assert (params.task.seed, params.trainer.train_steps) == (4, 7)


def test_a_flag_without_a_value_and_a_missing_file_say_what_is_accepted():
    with pytest.raises(InputError, match=r"'trainer.train_steps'; accepted: NAME=VALUE"):
        parsing.parse(experiment="reddit", params_override="trainer.train_steps")
    with pytest.raises(InputError, match=r"did you mean 'laptop_dan'\?; presets are demo_dan"):
        parsing.parse(experiment="reddit", config_files=["laptop_dam.yaml"])


def test_with_parameter_servers_each_task_has_a_share(parse):
    changes = {"task__nli__share": 0.0, "runtime__distribution_strategy": "parameter_server"}
    with pytest.raises(InputError, match=r"task.nli.share: 0.0; accepted with .* above 0, as each"):
        parse("reddit_nli", **changes)


@pytest.mark.parametrize("value", ["a/train-*,b/train-*", "a/train-[0-4]*"])
def test_values_with_commas_and_brackets_are_quoted(value):
    name = "task.train_data.input_path"
    with pytest.raises(InputError, match="is not quoted; accepted with commas or brackets: values"):
        parsing.parse(experiment="reddit", params_override=f"{name}={value},task.seed=3")
    for quoted in (f"'{value}'", f'"{value}"'):
        params = parsing.parse(experiment="reddit", params_override=f"{name}={quoted},task.seed=3")
        assert (params.task.train_data.input_path, params.task.seed) == (value, 3)
    sizes = "task.train_data.batch_boundaries=[5, 9],task.train_data.batch_sizes=[8,16]"
    params = parsing.parse(experiment="reddit", params_override=sizes)
    assert params.task.train_data.batch_sizes == [8, 16]


@pytest.mark.parametrize(
    ("value", "base"), [("0500", 8), ("-010", 8), ("10:30", 60), ("[8, 010]", 8)]
)
def test_a_number_is_not_read_in_another_base(value, base):
    override = f"task.seed=3,trainer.train_steps={value}"
    with pytest.raises(InputError, match=f" would be read in base {base}; accepted: decimal"):
        parsing.parse(experiment="reddit", params_override=override)


@pytest.mark.parametrize(("value", "number"), [("0", 0), ("500", 500), ("0x10", 16)])
def test_numbers_that_say_their_base_are_read(value, number):
    params = parsing.parse(experiment="reddit", params_override=f"task.seed={value}")
    assert params.task.seed == number


@pytest.mark.parametrize("name", ["laptop_dan", "laptop_dan.yaml"])
def test_a_preset_is_named_without_its_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parsing.parse(experiment="reddit", config_files=[name]).trainer.train_steps == 1830
    (tmp_path / name).write_text("trainer: {train_steps: 3}")  # a file of that name comes first
    assert parsing.parse(experiment="reddit", config_files=[name]).trainer.train_steps == 3


def test_the_printed_configuration_gives_the_same_run(tmp_path, capsys):
    override = ("--params_override", "task.seed=7")
    main(["--experiment", "reddit", "--config_file", "laptop_dan", *override, "--print_config"])
    path = tmp_path / "printed.yaml"
    path.write_text(capsys.readouterr().out)
    again = parsing.parse(experiment="reddit", config_files=[str(path)])
    assert again.task.seed == 7
    assert again.trainer.train_steps == 1830


def test_the_printed_configuration_is_that_of_reddit_where_no_experiment_is_named(capsys):
    main(["--experiment", "reddit", "--print_config"])
    named = capsys.readouterr().out
    main(["--print_config"])
    assert capsys.readouterr().out == named


def test_a_run_needs_an_experiment_a_mode_and_a_folder(capsys):
    with pytest.raises(SystemExit):
        main(["--experiment", "reddit"])
    assert "required: --mode, --model_dir" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--mode", "train"])
    assert "required: --experiment, --model_dir" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["a,b.vec", "it's.vec", "with space.vec", "k=v.vec", "123"])
def test_a_file_of_vectors_may_have_any_name(capsys, path):
    main(["--experiment", "reddit", "--word_vectors", path, "--print_config"])
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["task"]["word_vectors"] == path
