"""The tasks of a run: one, or response selection and further ones (section 2.4)."""

from model.configs import schema
from model.tasks.nli import NliTask
from model.tasks.pair_task import PairTask
from model.tasks.response_selection import ResponseSelectionTask
from model.tasks.teacher import TeacherTask

_TASKS: dict[type[schema.Training], type[PairTask]] = {
    schema.ResponseSelection: ResponseSelectionTask,
    schema.NliClassification: NliTask,
    schema.Distillation: TeacherTask,
}
_PARTS = ("train_data", "validation_data", "objective")
"""Parameters of a further task that it also has when it is alone."""


def tasks_of(params: schema.Training) -> list[PairTask]:
    """The tasks of a run; the first one builds the model."""
    first = next(task for config, task in _TASKS.items() if isinstance(params, config))(params)
    tasks = [first]
    common = {field: getattr(params, field) for field in ("model", "init_checkpoint", "seed")}
    for name, further in schema.further_tasks(params).items():
        config = schema.ALONE[name]
        own = {part: getattr(further, part) for part in _PARTS}
        tasks.append(
            _TASKS[config](config(**own, **common), section=f"task.{name}", text=first.text)
        )
    return tasks
