"""Parameters of a run: those of an experiment, overridden by files and flags, then checked."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
import yaml
from official.core import config_definitions, exp_factory
from official.modeling import hyperparams

from model.configs import PRESETS, experiments, ranges, schema, unused, values
from model.distribute.cluster import PARAMETER_SERVER
from model.errors import InputError

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_LIST = re.compile(r"=\s*\[[^\]]*\]")
_LOSSES = ("validation_loss", "nli_loss", "teacher_loss")
"""Validation metrics that are better when lower."""
_NOT_DECIMAL = re.compile(r"[-+]?(0[0-7_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")
"""What YAML 1.1 reads in base 8, such as 0500, or 60, such as 10:30."""
_MERGE = "tag:yaml.org,2002:merge"
_BACKWARDS = ("cosine", "exponential", "polynomial")
"""Schedules whose rate before their offset is none of theirs."""
_LARGEST_MARGIN = 2.0
"""The largest difference of two cosines."""


def parse(
    *,
    experiment: str,
    config_files: Sequence[str] = (),
    params_override: str | Sequence[str] = "",
    tpu: str = "",
) -> config_definitions.ExperimentConfig:
    """The experiment's parameters after the config files and then `params_override`, one or more.

    Raises:
      InputError: if the experiment, a file or a parameter is unknown, unreadable or cannot be.

    A config file without a folder that does not exist is looked for among the presets.
    """
    if experiment not in experiments.EXPERIMENTS:
        names = ", ".join(experiments.EXPERIMENTS)
        nearest = values.did_you_mean(experiment, experiments.EXPERIMENTS)
        raise InputError(f"--experiment: {experiment!r} is unknown{nearest}; accepted: {names}")
    params = exp_factory.get_exp_config(experiment)
    flags = [params_override] if isinstance(params_override, str) else params_override
    sources = [
        *(_read(f"--config_file {path}", _from_file, path) for path in config_files),
        *([("--tpu", {"runtime": {"tpu": tpu}})] if tpu else []),
        *(_read("--params_override", _from_flag, text) for text in flags),
    ]
    for source, overrides in sources:
        params.override(values.checked(overrides, params, source=source, experiment=params))
    values.check_choices(sources, params)
    params.lock()
    _check(params)
    return params


def _read(
    source: str, read: Callable[[str], dict[str, Any]], text: str
) -> tuple[str, dict[str, Any]]:
    """The nested overrides of a file or flag, and its name for messages."""
    try:
        return source, read(text)
    except AttributeError:
        reason = "it holds no names with values"  # such as a list
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        reason = f"{line}{error.problem or error.context}"
    except RecursionError:
        reason = "an alias stands for a section that it is in"
    except (LookupError, ValueError, TypeError, yaml.YAMLError) as error:
        reason = " ".join(str(error.args[0] if error.args else error).split())
    except tf.errors.OpError as error:
        reason = error.message
    raise InputError(f"{source} gives no parameters: {reason}")


def _from_file(path: str) -> dict[str, Any]:
    preset = PRESETS / f"{path.removesuffix('.yaml')}.yaml"
    if "/" not in path and preset.exists() and not tf.io.gfile.exists(path):
        path = str(preset)
    try:
        _check_yaml(path)
        return hyperparams.read_yaml_to_params_dict(path).as_dict()
    except tf.errors.NotFoundError as error:
        names = sorted(file.stem for file in PRESETS.glob("*.yaml"))
        nearest = values.did_you_mean(Path(path).stem, names)
        raise ValueError(f"no such file{nearest}; presets are {', '.join(names)}") from error


def _check_yaml(path: str) -> None:
    """Checks what YAML takes silently: the last of two equal names, numbers of another base."""
    with tf.io.gfile.GFile(path) as file:
        sections, visited = [yaml.compose(file.read(), Loader=yaml.SafeLoader)], set()
    while sections:
        node = sections.pop()
        if id(node) in visited:  # an alias
            continue
        visited.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            sections += node.value
        if isinstance(node, yaml.ScalarNode) and not node.style:
            _require_decimal(node.value, f"line {node.start_mark.line + 1}: ")
        if not isinstance(node, yaml.MappingNode):
            continue
        seen: dict[tuple[str, str], int] = {}
        for key, value in node.value:
            sections.append(value)
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            name, line = (key.tag, key.value), key.start_mark.line + 1
            if name in seen:
                raise ValueError(f"line {line}: {key.value!r} is already set on line {seen[name]}")
            seen[name] = line


def _require_decimal(value: str, where: str = "") -> None:
    if _NOT_DECIMAL.fullmatch(value):
        base = 60 if ":" in value else 8
        raise ValueError(
            f"{where}{value!r} would be read in base {base}; accepted: decimal numbers without "
            "leading zeros and colons, or text in quotes"
        )


def _from_flag(text: str) -> dict[str, Any]:
    text = text.strip()  # of a command that was copied with the indentation of its lines
    if text and "=" not in text:
        if not tf.io.gfile.exists(text):
            raise ValueError(f"{text!r}; accepted: NAME=VALUE[,NAME=VALUE...] and a YAML file")
        _check_yaml(text)
    else:
        _check_flag(text)
    return hyperparams.override_params_dict(
        hyperparams.ParamsDict(), text, is_strict=False
    ).as_dict()


def _check_flag(text: str) -> None:
    """Checks that values with commas or brackets, such as patterns, are quoted; and numbers."""
    bare = _QUOTED.sub("''", text)
    parts = [part.strip() for part in _LIST.sub("=[]", bare).split(",")]
    for part in parts:
        if part and ("=" not in part or "[" in part.removesuffix("[]")):
            raise ValueError(
                f"{part!r} is not quoted; accepted with commas or brackets: values in quotes, "
                "NAME='a/train-*,b/train-*'"
            )
    for value in re.split(r"[=,\[\]]", bare):
        _require_decimal(value.strip())


def _check(params: config_definitions.ExperimentConfig) -> None:
    unused.check_optimizer(params)
    ranges.check(params)
    _check_strategy(params.runtime.distribution_strategy)
    unused.check(params)
    for where, data in _data(params.task):
        _check_batches(where, data)
    _check_shares(params.task)
    _check_model(params.task)
    trainer = params.trainer
    _check_best(trainer)
    _check_boundaries(trainer.optimizer_config.learning_rate)
    _check_offset(trainer.optimizer_config)
    if trainer.validation_steps != -1 and trainer.validation_steps < 1:
        raise InputError(
            f"trainer.validation_steps: {trainer.validation_steps}; accepted: whole numbers "
            "of at least 1, or -1 for all batches"
        )
    if trainer.average_decay and params.runtime.distribution_strategy == PARAMETER_SERVER:
        raise InputError(
            "trainer.average_decay: parameter servers keep no average; "
            f"accepted with runtime.distribution_strategy={PARAMETER_SERVER}: 0"
        )
    if params.runtime.distribution_strategy == PARAMETER_SERVER:
        _check_negatives(params.task)
        _check_shares_of_workers(params.task)
    _check_average(trainer)
    if trainer.summary_interval % trainer.steps_per_loop:
        raise InputError(
            f"trainer.summary_interval: {trainer.summary_interval}; accepted: multiples of "
            f"trainer.steps_per_loop, {trainer.steps_per_loop}"
        )


def _check_offset(config: config_definitions.OptimizationConfig) -> None:
    """Before its offset, such a schedule is not the initial rate but goes backwards."""
    kind, rate = config.learning_rate.type, config.learning_rate.get()
    warmup = getattr(config.warmup.get(), "warmup_steps", 0) if config.warmup.type else 0
    if kind in _BACKWARDS and rate.offset > warmup:
        raise InputError(
            f"trainer.optimizer_config.learning_rate.{kind}.offset: {rate.offset}; accepted: at "
            f"most the steps of the warm-up, {warmup}"
        )


def _check_strategy(name: str) -> None:
    """The Model Garden reads any case; here names are compared."""
    if name != name.lower():
        raise InputError(f"runtime.distribution_strategy: {name!r}; accepted: {name.lower()!r}")


def _check_negatives(task: schema.Training) -> None:
    objective = getattr(task, "objective", None)
    if getattr(objective, "negatives_across_replicas", False):
        raise InputError(
            "task.objective.negatives_across_replicas: parameter servers step each worker alone; "
            f"accepted with runtime.distribution_strategy={PARAMETER_SERVER}: false"
        )


def _check_shares_of_workers(task: schema.Training) -> None:
    for name, further in schema.further_tasks(task).items():
        if not further.share:
            raise InputError(
                f"task.{name}.share: {further.share!r}; accepted with "
                f"runtime.distribution_strategy={PARAMETER_SERVER}: numbers above 0, as each task "
                "has a worker"
            )


def _check_average(trainer: schema.Trainer) -> None:
    """An average that is used before its first update would be the initial weights."""
    if not trainer.average_decay:
        return
    for name in ("train_steps", "validation_interval", "checkpoint_interval"):
        most = getattr(trainer, name)
        if trainer.average_every > most:
            raise InputError(
                f"trainer.average_every: {trainer.average_every}; accepted: at most "
                f"trainer.{name}, {most}, as the average would still be the initial weights"
            )


def _check_shares(task: schema.Training) -> None:
    shares = {
        f"task.{name}.share": further.share for name, further in schema.further_tasks(task).items()
    }
    if sum(shares.values()) >= 1:
        names = " and ".join(f"{name} {share!r}" for name, share in shares.items())
        raise InputError(
            f"{names}: together {sum(shares.values()):g}; accepted: shares that leave some "
            "steps to response selection, less than 1 in all"
        )


def _check_model(task: schema.Training) -> None:
    heads = task.model.heads
    if not heads or not set(heads) <= set(schema.TASKS):
        raise InputError(f"task.model.heads: {heads!r}; accepted: one or several of {schema.TASKS}")
    trained = schema.trained_tasks(task)
    if missing := [name for name in trained if name not in heads]:
        raise InputError(
            f"task.model.heads: {heads!r} lacks {' and '.join(missing)}, which the experiment "
            "trains; accepted: the tasks of the experiment, and others"
        )
    if heads[0] != trained[0]:  # the model card says of which task `task.train_data` are
        raise InputError(
            f"task.model.heads: {heads!r}; accepted: {trained[0]}, which the experiment trains, "
            "before others"
        )
    _check_word_vectors(task)
    if task.model.text.char_ngram_buckets and task.model.encoder.type != "averaging":
        raise InputError(
            f"task.model.text.char_ngram_buckets: {task.model.text.char_ngram_buckets} has no "
            "effect; only an averaging encoder reads character n-grams"
        )
    if task.model.encoder.type == "transformer":
        _check_transformer(task.model.encoder.transformer)
    if task.model.context_turns and schema.RESPONSE_SELECTION not in heads:
        raise InputError(
            f"task.model.context_turns: {task.model.context_turns} has no effect; it is read only "
            f"if task.model.heads has {schema.RESPONSE_SELECTION}"
        )
    if isinstance(task, schema.ResponseSelection):
        _check_margin(task)


def _check_word_vectors(task: schema.Training) -> None:
    if task.word_vectors and task.word_cooccurrence_records:
        raise InputError(
            f"task.word_vectors: {task.word_vectors!r}; accepted with "
            "task.word_cooccurrence_records=0, as word vectors begin in one of the two ways"
        )
    if task.word_vectors and task.init_checkpoint:
        raise InputError(
            f"task.word_vectors: {task.word_vectors!r} has no effect; it is read only without "
            "task.init_checkpoint, whose word vectors the run begins with"
        )
    if not task.char_ngram_fit:
        return
    encoder, text = task.model.encoder, task.model.text
    needed = {
        "word vectors (--word_vectors)": task.word_vectors,
        "character n-grams (task.model.text.char_ngram_buckets)": text.char_ngram_buckets,
        "an averaging encoder with a weight for them (char_ngram_weight)": (
            encoder.type == "averaging" and encoder.averaging.char_ngram_weight
        ),
    }
    if missing := [name for name, value in needed.items() if not value]:
        raise InputError(
            f"task.char_ngram_fit: {task.char_ngram_fit} needs {' and '.join(missing)} beside it; "
            "accepted without is 0"
        )


def _check_margin(task: schema.ResponseSelection) -> None:
    margin = task.objective.margin
    if task.model.response_network.normalize and margin > _LARGEST_MARGIN:
        raise InputError(
            f"task.objective.margin: {margin!r}; accepted with task.model.response_network."
            f"normalize are numbers from 0 to {_LARGEST_MARGIN:g}, as cosines differ by no more"
        )


def _check_transformer(config: schema.Transformer) -> None:
    if config.hidden % 2 or config.hidden % config.heads:
        raise InputError(
            f"task.model.encoder.transformer.hidden: {config.hidden}; accepted: even numbers "
            f"that can be divided by its heads, {config.heads}"
        )


def _check_boundaries(rate: hyperparams.OneOfConfig) -> None:
    """Steps that do not rise would be passed over in silence."""
    boundaries = getattr(rate.get(), "boundaries", None) or []
    if sorted(set(boundaries)) != list(boundaries):
        raise InputError(
            f"trainer.optimizer_config.learning_rate.{rate.type}.boundaries: {list(boundaries)}; "
            "accepted: rising steps"
        )


def _check_best(trainer: schema.Trainer) -> None:
    metric, comparison = trainer.best_checkpoint_eval_metric, trainer.best_checkpoint_metric_comp
    name = "trainer.best_checkpoint_metric_comp"
    if comparison not in (schema.HIGHER, schema.LOWER):
        raise InputError(f"{name}: {comparison!r}; accepted: {schema.HIGHER}, {schema.LOWER}")
    if comparison == schema.LOWER and not metric:
        raise InputError(
            f"{name}: {schema.LOWER!r} of no metric; accepted with a "
            "trainer.best_checkpoint_eval_metric, such as validation_loss"
        )
    if comparison == schema.LOWER and metric not in _LOSSES:
        raise InputError(f"{name}: {schema.LOWER!r} {metric} is worse; accepted: {schema.HIGHER}")
    if comparison == schema.HIGHER and metric in _LOSSES:
        raise InputError(f"{name}: {schema.HIGHER!r} {metric} is worse; accepted: {schema.LOWER}")


def _data(task: schema.Training) -> Iterator[tuple[str, schema.Data]]:
    yield "task.train_data", task.train_data
    yield "task.validation_data", task.validation_data
    for name, further in schema.further_tasks(task).items():
        yield f"task.{name}.train_data", further.train_data
        yield f"task.{name}.validation_data", further.validation_data


def _check_batches(where: str, data: schema.Data) -> None:
    boundaries = data.batch_boundaries
    if len(boundaries) != len(data.batch_sizes) or sorted(set(boundaries)) != list(boundaries):
        raise InputError(
            f"{where}: batch_boundaries {boundaries} and batch_sizes {data.batch_sizes}; "
            "accepted: rising steps, and a size for each"
        )
