"""The tasks and experiments are those of the Model Garden, whose own trainers run them."""

import numpy as np
import pytest
import tensorflow as tf
from official.core import exp_factory, task_factory, train_lib, train_utils
from official.modeling.multitask import interleaving_trainer, task_sampler
from official.modeling.multitask.multitask import MultiTask

from model.configs.experiments import EXPERIMENTS
from model.tasks.nli import NliTask
from model.tasks.response_selection import ResponseSelectionTask
from model.tasks.teacher import TeacherTask

CLASSES = {
    "reddit": ResponseSelectionTask,
    "nli": NliTask,
    "reddit_nli": MultiTask,
    "teacher": TeacherTask,
    "reddit_teacher": MultiTask,
    "reddit_nli_teacher": MultiTask,
}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_has_its_task(experiment):
    task = task_factory.get_task(exp_factory.get_exp_config(experiment).task)
    assert type(task) is CLASSES[experiment]


def run(params, folder, *, steps):
    """Trains with the Model Garden's trainer; the mean loss of each loop, and the last metrics."""
    losses = []
    _, metrics = train_lib.run_experiment(
        distribution_strategy=tf.distribute.get_strategy(),
        task=task_factory.get_task(params.task),
        mode="train",
        params=params.replace(trainer={"train_steps": steps}),
        model_dir=str(folder),
        run_post_eval=True,
        train_actions=[lambda logs: losses.append(float(logs["training_loss"]))],
    )
    return losses, metrics


def test_the_model_gardens_trainer_takes_the_same_steps(parse, reddit_run, tmp_path):
    """`reddit_run` kept an average, which changes no weight, and was validated in between."""
    losses, metrics = run(parse(), tmp_path, steps=60)
    assert len(losses) == 3
    assert losses == sorted(losses, reverse=True)
    assert float(metrics["p_at_1"]) > 0.8
    theirs, ours = (tf.train.load_checkpoint(str(each)) for each in (tmp_path, reddit_run))
    names = [name for name in ours.get_variable_to_shape_map() if name.startswith("model/")]
    assert len(names) > 4
    for name in names:
        if "random_state" not in name:
            np.testing.assert_array_equal(theirs.get_tensor(name), ours.get_tensor(name), name)


@pytest.mark.slow
def test_the_model_gardens_multitask_trainer_runs_both(parse):
    params = parse("reddit_nli", task__nli__share=0.5)
    both = task_factory.get_task(params.task)
    assert both.task_weights == {"response_selection": 0.5, "nli": 0.5}
    selection = both.tasks["response_selection"]
    trainer = interleaving_trainer.MultiTaskInterleavingTrainer(
        multi_task=both,
        multi_task_model=selection.build_model(),
        optimizer=train_utils.create_optimizer(selection, params),
        task_sampler=task_sampler.ProportionalTaskSampler(both.task_weights),
    )
    first, last = (trainer.train(tf.constant(30)) for _ in range(2))
    for name in both.tasks:
        assert last[name]["training_loss"] < first[name]["training_loss"]
        assert int(trainer.task_step_counter(name)) > 10
