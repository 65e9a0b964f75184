"""The experiments of `--experiment`. Numbers: section 3.1."""

from functools import partial

from model.configs import schema

_MILLION = 1_000_000


def _experiment(task: type[schema.Training], *, steps: int, slower_from: int) -> schema.Experiment:
    """The defaults of an experiment, whose rate falls from 0.01 to 0.001 at a step."""
    params = schema.Experiment(
        task=task(),
        trainer=schema.Trainer(
            train_steps=steps, checkpoint_interval=100_000, validation_interval=100_000
        ),
    )
    params.task.model.heads = schema.trained_tasks(params.task)
    params.trainer.optimizer_config.learning_rate.stepwise.override(
        {"boundaries": [slower_from], "values": [0.01, 0.001]}
    )
    return params


_FROM_THE_START = {"steps": 40 * _MILLION, "slower_from": 30 * _MILLION}
_FROM_A_MODEL = {"steps": 30 * _MILLION, "slower_from": 20 * _MILLION}
"""For a start from a model of `reddit`, which `task.init_checkpoint` names."""
_ALONE = {"steps": 100_000, "slower_from": 50_000}

FACTORIES = {
    "reddit": partial(_experiment, schema.ResponseSelection, **_FROM_THE_START),
    "nli": partial(_experiment, schema.NliClassification, **_ALONE),
    "reddit_nli": partial(_experiment, schema.Multitask, **_FROM_A_MODEL),
    "teacher": partial(_experiment, schema.Distillation, **_ALONE),
    "reddit_teacher": partial(_experiment, schema.TeacherMultitask, **_FROM_THE_START),
    "reddit_nli_teacher": partial(_experiment, schema.NliTeacherMultitask, **_FROM_A_MODEL),
}
