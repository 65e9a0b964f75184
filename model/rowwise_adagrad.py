"""Adagrad for tables of vectors: one sum a row (Naumov et al. 2019)."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras


class RowwiseAdagrad(tf_keras.optimizers.legacy.Optimizer):
    """Adagrad that sums, for each row of a matrix, the mean of its squared gradients.

    A table of vectors then has one further number a row instead of one a weight (Naumov et al.
    2019, arXiv 1906.00091, whose tables are trained so). A vector or scalar counts as one column:
    there it is Adagrad (Duchi et al. 2011).

    Args:
      learning_rate: a number or schedule.
      initial_accumulator_value: first value of the sums.
      epsilon: added to their roots.
    """

    _HAS_AGGREGATE_GRAD = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        name: str = "RowwiseAdagrad",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", self._initial_decay)
        self._initial, self._epsilon = initial_accumulator_value, epsilon

    def _create_slots(self, var_list: Sequence[tf.Variable]) -> None:
        for var in var_list:
            initial = tf_keras.initializers.Constant(self._initial)
            self.add_slot(var, "accumulator", initial, shape=_rows(var.shape))

    def _resource_apply_dense(
        self, grad: tf.Tensor, var: tf.Variable, apply_state: Any = None
    ) -> tf.Operation:
        accumulator = self.get_slot(var, "accumulator")
        sums = accumulator.assign_add(_mean_square(grad), use_locking=self._use_locking)
        return var.assign_sub(self._scaled(grad, sums, var, apply_state))

    def _resource_apply_sparse(
        self, grad: tf.Tensor, var: tf.Variable, indices: tf.Tensor, apply_state: Any = None
    ) -> tf.Operation:
        accumulator = self.get_slot(var, "accumulator")
        added = tf.raw_ops.ResourceScatterAdd(
            resource=accumulator.handle, indices=indices, updates=_mean_square(grad)
        )
        with tf.control_dependencies([added]):
            sums = tf.gather(accumulator, indices)
        return tf.raw_ops.ResourceScatterSub(
            resource=var.handle,
            indices=indices,
            updates=self._scaled(grad, sums, var, apply_state),
        )

    def _scaled(
        self, grad: tf.Tensor, sums: tf.Tensor, var: tf.Variable, apply_state: Any
    ) -> tf.Tensor:
        rate = apply_state[(var.device, var.dtype.base_dtype)]["lr_t"]
        of_rows = rate / (tf.sqrt(sums) + self._epsilon)
        for _ in range(grad.shape.rank - of_rows.shape.rank):
            of_rows = of_rows[..., tf.newaxis]
        return grad * of_rows

    def get_config(self) -> dict[str, Any]:
        """What the constructor takes."""
        return super().get_config() | {
            "learning_rate": self._serialize_hyperparameter("learning_rate"),
            "initial_accumulator_value": self._initial,
            "epsilon": self._epsilon,
        }


def _rows(shape: tf.TensorShape) -> tf.TensorShape:
    """Of a matrix, its rows alone."""
    return shape[:1] if shape.rank > 1 else shape


def _mean_square(gradient: tf.Tensor) -> tf.Tensor:
    """The mean square of each row of a matrix, or the square of a number."""
    return tf.reduce_mean(tf.square(gradient), axis=list(range(1, gradient.shape.rank)))
