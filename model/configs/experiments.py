"""The experiments of `--experiment`, registered with the Model Garden. Numbers: section 3.1."""

from official.core import exp_factory

from model.configs import EXPERIMENTS as EXPERIMENTS
from model.configs import schema


@exp_factory.register_config_factory("reddit")
def reddit() -> schema.Experiment:
    """Response selection on Reddit pairs with a deep averaging network."""
    return _experiment(
        schema.ResponseSelection(train_data=_train_data(), validation_data=_validation_data()),
        steps=40_000_000,
        slower_from=30_000_000,
    )


@exp_factory.register_config_factory("nli")
def nli() -> schema.Experiment:
    """NLI alone."""
    task = schema.NliClassification(train_data=_train_data(), validation_data=_validation_data())
    task.model.heads = [schema.NLI]
    return _experiment(task, steps=100_000, slower_from=50_000)


@exp_factory.register_config_factory("reddit_nli")
def reddit_nli() -> schema.Experiment:
    """Both tasks, starting from a model of `reddit` named by `task.init_checkpoint`."""
    task = schema.Multitask(
        train_data=_train_data(),
        validation_data=_validation_data(),
        nli=_nli_data(),
    )
    task.model.heads = [schema.RESPONSE_SELECTION, schema.NLI]
    return _experiment(task, steps=30_000_000, slower_from=20_000_000)


@exp_factory.register_config_factory("teacher")
def teacher() -> schema.Experiment:
    """A teacher's embeddings alone (`python -m model teacher` writes them)."""
    task = schema.Distillation(train_data=_train_data(), validation_data=_validation_data())
    task.model.heads = [schema.TEACHER]
    return _experiment(task, steps=100_000, slower_from=50_000)


@exp_factory.register_config_factory("reddit_teacher")
def reddit_teacher() -> schema.Experiment:
    """Response selection and a teacher."""
    task = schema.TeacherMultitask(
        train_data=_train_data(), validation_data=_validation_data(), teacher=_teacher_data()
    )
    task.model.heads = [schema.RESPONSE_SELECTION, schema.TEACHER]
    return _experiment(task, steps=40_000_000, slower_from=30_000_000)


@exp_factory.register_config_factory("reddit_nli_teacher")
def reddit_nli_teacher() -> schema.Experiment:
    """Response selection, NLI and a teacher."""
    task = schema.NliTeacherMultitask(
        train_data=_train_data(),
        validation_data=_validation_data(),
        nli=_nli_data(),
        teacher=_teacher_data(),
    )
    task.model.heads = [schema.RESPONSE_SELECTION, schema.NLI, schema.TEACHER]
    return _experiment(task, steps=30_000_000, slower_from=20_000_000)


def _nli_data() -> schema.NliData:
    return schema.NliData(train_data=_train_data(), validation_data=_validation_data())


def _teacher_data() -> schema.TeacherData:
    return schema.TeacherData(train_data=_train_data(), validation_data=_validation_data())


def _train_data() -> schema.Data:
    return schema.Data(is_training=True, global_batch_size=128, shuffle_buffer_size=100_000)


def _validation_data() -> schema.Data:
    return schema.Data(is_training=False, global_batch_size=100)


def _experiment(task: schema.Training, *, steps: int, slower_from: int) -> schema.Experiment:
    trainer = schema.Trainer(
        train_steps=steps, checkpoint_interval=100_000, validation_interval=100_000
    )
    trainer.optimizer_config.learning_rate.stepwise.override(
        {"boundaries": [slower_from], "values": [0.01, 0.001]}
    )
    return schema.Experiment(task=task, trainer=trainer)
