"""Parameters of a run: those of an experiment, overridden by files and flags, then checked."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from official.modeling import hyperparams
from official.modeling.hyperparams import params_dict

from common.errors import InputError, reading
from common.fields import is_of, noun, refused
from model.configs import EXPERIMENTS, PRESETS, parameter, schema

_DEFAULTS = {
    "reddit": (schema.ResponseSelection, 40_000_000, 30_000_000),
    "nli": (schema.NliClassification, 100_000, 50_000),
    "reddit_nli": (schema.NliMultitask, 30_000_000, 20_000_000),  # from a model of `reddit`
    "teacher": (schema.Distillation, 100_000, 50_000),
    "reddit_teacher": (schema.TeacherMultitask, 40_000_000, 30_000_000),
    "reddit_nli_teacher": (schema.NliTeacherMultitask, 30_000_000, 20_000_000),
}
"""Of each experiment the class of its tasks, its steps, and the step at which it slows (section
3.1)."""


def defaults(experiment: str) -> schema.Experiment:
    """The parameters of an experiment, whose rate falls from 0.01 to 0.001 at a step."""
    task, steps, slower_from = _DEFAULTS[experiment]
    params = schema.Experiment(task=task(), trainer=schema.Trainer(train_steps=steps))
    params.trainer.checkpoint_interval = params.trainer.validation_interval = 100_000
    params.task.model.heads = schema.trained_tasks(params.task)
    rates = {"boundaries": [slower_from], "values": [0.01, 0.001]}
    params.trainer.optimizer_config.learning_rate.stepwise.override(rates)
    return params


def parse(
    *, experiment: str, config_files: Sequence[str] = (), params_override: str | Sequence[str] = ""
) -> schema.Experiment:
    """The experiment's parameters after the config files and then `params_override`, one or more.

    Files may be named as presets. An override is `NAME=VALUE[,NAME=VALUE...]`, values with commas
    or brackets in quotes.

    Raises:
      InputError: if the experiment, a file or a parameter is unknown, or a value is not accepted.
    """
    if experiment not in EXPERIMENTS:
        raise refused("--experiment", experiment, ", ".join(EXPERIMENTS))
    params = defaults(experiment)
    for path in config_files:
        merge(read(path), params, source=f"--config_file {path}")
    for text in [params_override] if isinstance(params_override, str) else params_override:
        with reading("--params_override"):
            given = yaml.load(params_dict.nested_csv_str_to_json_str(text.strip()), _Loader)
        merge(given or {}, params, source="--params_override")
    parameter.check(params)
    params.lock()
    return params


def parse_model(path: str) -> schema.DualEncoder:
    """`task.model` of a YAML file or a preset.

    Where it leaves out the heads, they follow from the sections that the experiments have.
    """
    task = read(path).get("task") or {}
    if not isinstance(task, dict) or not isinstance(task.get("model"), dict):
        raise InputError(f"{path}: has no section task.model")
    config, given = schema.DualEncoder(), task["model"]
    if "nli" in given:
        is_alone = "response_network" not in given and "nli" not in task
        config.heads = [schema.NLI] if is_alone else [schema.RESPONSE_SELECTION, schema.NLI]
    merge(given, config, source=path, where="task.model.")
    parameter.check(config, "task.model.")
    return config


def read(path: str) -> dict[str, Any]:
    """What a YAML file holds, or the preset of that name where there is no such file."""
    file, preset = Path(path), PRESETS / f"{path.removesuffix('.yaml')}.yaml"
    if not file.exists() and not preset.is_file():
        presets = ", ".join(sorted(each.stem for each in PRESETS.glob("*.yaml")))
        raise InputError(f"{path}: no such file; presets are {presets}")
    with reading(path), (file if file.exists() else preset).open("rb") as opened:
        found = yaml.load(opened, _Loader)
    if not isinstance(found, dict):
        raise InputError(f"{path}: no parameters; accepted: names and values in YAML")
    return found


class _Loader(yaml.FullLoader):  # the Model Garden adds numbers such as 1e-5 to it
    """Refuses a name that is set twice, of which YAML keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise yaml.constructor.ConstructorError(
                None, None, f"{twice!r} is set twice", node.start_mark
            )
        return super().construct_mapping(node, deep)


def merge(
    given: Mapping[str, Any], section: hyperparams.Config, *, source: str, where: str = ""
) -> None:
    """Overrides parameters of a section, `where` with a dot, by nested names and values.

    Raises:
      InputError: if there is no such parameter, or it has no effect.
    """
    known, inner = parameter.declared(type(section)), parameter.parts(section)
    for name, value in given.items():
        full = f"{source}: {where}{name}"
        if name in inner:
            if not isinstance(value, dict):
                raise refused(full, value, f"a section of {', '.join(inner[name].as_dict())}")
            merge(value, inner[name], source=source, where=f"{where}{name}.")
        elif name in known:
            kind, _ = known[name]
            is_blank = value is None and not is_of(None, kind)
            typed = "" if is_blank and is_of("", kind) else value
            if not is_of(typed, kind):
                raise refused(full, value, noun(kind))
            section.override({name: typed})
        elif not hasattr(section, str(name)):
            raise InputError(f"{full}: no such parameter{_nearest(name, section, where)}")
        elif getattr(section, name) != value:  # `params.yaml` of a run holds them all
            accepted = f"{getattr(section, name)!r}; training does not read others"
            raise refused(full, value, accepted)
    if isinstance(section, hyperparams.OneOfConfig):
        for name in inner.keys() & given.keys() - {section.type}:
            raise InputError(
                f"{source}: {where}{name} has no effect; {where}type is {section.type!r}"
            )


def _nearest(name: str, section: hyperparams.Config, where: str) -> str:
    """Which parameters an unknown name is like."""
    known = [
        f"{at}{known}"
        for at, part in parameter.sections(section, where)
        for known in parameter.declared(type(part)) | parameter.parts(part)
    ]
    near = difflib.get_close_matches(f"{where}{name}", known)
    found = f"did you mean {' or '.join(near)}?" if near else "docs/parameters.md lists all"
    is_encoder = isinstance(section, schema.Encoder)
    return f"; {found}" + "; --import_module registers further encoders" * is_encoder
