"""Response selection and NLI together, as a `MultiTask` of the Model Garden (section 2.4)."""

from official.core import task_factory
from official.modeling.multitask import multitask

from model.configs import schema
from model.tasks.pair_task import PairTask


@task_factory.register_task_cls(schema.Multitask)
def build(params: schema.Multitask, logging_dir: str | None = None) -> multitask.MultiTask:
    """Both tasks, weighted by `nli.share`; the Model Garden's trainers interleave them."""
    common = {field: getattr(params, field) for field in ("model", "init_checkpoint", "seed")}
    nli_config = schema.NliClassification(
        train_data=params.nli.train_data, validation_data=params.nli.validation_data, **common
    )
    selection = task_factory.get_task_cls(schema.ResponseSelection)(params, logging_dir)
    nli = task_factory.get_task_cls(schema.NliClassification)(
        nli_config, logging_dir, section="task.nli", text=selection.text
    )
    return multitask.MultiTask(
        [selection, nli],
        task_weights={selection.name: 1 - params.nli.share, nli.name: params.nli.share},
    )


def tasks_of(params: schema.Training) -> list[PairTask]:
    """The tasks of a run: one, or response selection and NLI.

    Raises:
      LookupError: if no task is registered for this type of configuration.
    """
    task = task_factory.get_task(params)
    return list(task.tasks.values()) if isinstance(task, multitask.MultiTask) else [task]
