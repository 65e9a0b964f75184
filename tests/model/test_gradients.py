"""Gradients of a step: rows of a table summed before they are clipped."""

import numpy as np
import tensorflow as tf
from official.modeling import optimization

from model.gradients import Step


def test_rows_that_are_looked_up_twice_are_summed_before_they_are_clipped():
    table = tf.Variable([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    config = {"global_clipnorm": 2.5, "momentum": 0.0}
    factory = optimization.OptimizerFactory(
        optimization.OptimizationConfig(
            {
                "optimizer": {"type": "sgd", "sgd": config},
                "learning_rate": {"type": "constant", "constant": {"learning_rate": 1.0}},
            }
        )
    )
    sgd = factory.build_optimizer(1.0)
    tape = tf.GradientTape()
    with tape, Step(tape).watching() as step:
        once, twice = tf.gather(table, [2, 1]), tf.gather(table, [2])
        loss = tf.reduce_sum(once * [[1.0, 2.0], [0.0, 0.0]]) + tf.reduce_sum(twice * [2.0, 2.0])
    ((gradient, _),) = step.gradients(loss, [table], sgd)
    assert sorted(gradient.indices.numpy()) == [1, 2]
    np.testing.assert_array_equal(tf.convert_to_tensor(gradient), [[0, 0], [0, 0], [3, 4]])
    sgd.apply_gradients([(gradient, table)], experimental_aggregate_gradients=False)
    # The norm is 5; of the four numbers apart it would be less.
    np.testing.assert_allclose(table[2], [-1.5, -2.0], rtol=1e-6)
