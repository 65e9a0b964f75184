"""The tasks of a run: one, or response selection and further ones (section 2.4)."""

from model.configs import schema
from model.tasks.nli import NliTask
from model.tasks.pair_task import PairTask
from model.tasks.response_selection import ResponseSelectionTask
from model.tasks.teacher import TeacherTask

_TASKS: dict[str, type[PairTask]] = {
    task.name: task for task in (ResponseSelectionTask, NliTask, TeacherTask)
}
_PARTS = ("train_data", "validation_data", "objective")
"""Parameters of a further task that it also has when it is alone."""


def tasks_of(params: schema.Training) -> list[PairTask]:
    """The tasks of a run; the first one builds the model."""
    name, *further = schema.trained_tasks(params)
    tasks = [_TASKS[name](params)]
    common = {field: getattr(params, field) for field in ("model", "init_checkpoint", "seed")}
    for name in further:
        own = {part: getattr(getattr(params, name), part) for part in _PARTS}
        config = schema.ALONE[name](**own, **common)
        tasks.append(_TASKS[name](config, section=f"task.{name}", text=tasks[0].text))
    return tasks
