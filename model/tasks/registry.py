"""The tasks of a run: one, or response selection and further ones (section 2.4)."""

from model.configs import schema
from model.tasks.nli import NliTask
from model.tasks.pair_task import PairTask
from model.tasks.response_selection import ResponseSelectionTask
from model.tasks.teacher import TeacherTask

_TASKS: dict[str, type[PairTask]] = {
    task.name: task for task in (ResponseSelectionTask, NliTask, TeacherTask)
}


def tasks_of(params: schema.Training) -> list[PairTask]:
    """The tasks of a run; the first one builds the model."""
    name, *further = schema.trained_tasks(params)
    first = _TASKS[name](params)
    return [first, *(_TASKS[name](params, is_further=True, text=first.text) for name in further)]
