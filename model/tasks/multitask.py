"""Response selection and further tasks as a `MultiTask` of the Model Garden (section 2.4)."""

from official.core import task_factory
from official.modeling.multitask import multitask

from model.configs import schema
from model.tasks.pair_task import PairTask


@task_factory.register_task_cls(schema.Multitask)
@task_factory.register_task_cls(schema.TeacherMultitask)
@task_factory.register_task_cls(schema.NliTeacherMultitask)
def build(params: schema.ResponseSelection, logging_dir: str | None = None) -> multitask.MultiTask:
    """All tasks, weighted by their shares; the Model Garden's trainers interleave them."""
    selection = task_factory.get_task_cls(schema.ResponseSelection)(params, logging_dir)
    common = {field: getattr(params, field) for field in ("model", "init_checkpoint", "seed")}
    tasks, weights = [selection], {}
    for name, further in schema.further_tasks(params).items():
        own = {field: value for field, value in vars(further).items() if field in _PARTS}
        task = task_factory.get_task_cls(schema.ALONE[name])(
            schema.ALONE[name](**own, **common),
            logging_dir,
            section=f"task.{name}",
            text=selection.text,
        )
        tasks.append(task)
        weights[name] = further.share
    return multitask.MultiTask(
        tasks, task_weights={selection.name: 1 - sum(weights.values())} | weights
    )


_PARTS = ("train_data", "validation_data", "objective")
"""Parameters of a further task that it also has when it is alone."""


def tasks_of(params: schema.Training) -> list[PairTask]:
    """The tasks of a run: one, or response selection and further ones.

    Raises:
      LookupError: if no task is registered for this type of configuration.
    """
    task = task_factory.get_task(params)
    return list(task.tasks.values()) if isinstance(task, multitask.MultiTask) else [task]
