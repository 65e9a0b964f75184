"""Registers the experiments and tasks with the Model Garden; import it for that alone.

>>> from official.core import exp_factory, task_factory
>>> import model.registry_imports
>>> task = task_factory.get_task(exp_factory.get_exp_config("reddit").task)
>>> type(task).__name__
'ResponseSelectionTask'
"""

from model.configs import experiments  # noqa: F401
from model.tasks import multitask, nli, response_selection, teacher  # noqa: F401
