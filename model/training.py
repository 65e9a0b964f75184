"""One run of an experiment: parameters, strategy, Orbit's loop, progress."""

import contextlib
import io
import sys
from collections.abc import Sequence

import orbit
import tensorflow as tf
import yaml
from absl import logging
from official.common import distribute_utils
from official.core import config_definitions, task_factory, train_lib, train_utils
from official.modeling import performance
from tqdm import tqdm

from model import experiments, inputs, tasks
from model.errors import InputError

PARAMS_FILE = "params.yaml"
_REGISTERED = (experiments, tasks)  # importing them registers the experiments and the tasks


def parse_params(
    *, experiment: str, config_files: Sequence[str] = (), params_override: str = "", tpu: str = ""
) -> config_definitions.ExperimentConfig:
    """The experiment's parameters after the config files and then `params_override`.

    Raises:
      InputError: if the experiment, a file or a parameter is unknown, unreadable or cannot be.
    """
    if experiment not in experiments.NAMES:
        names = ", ".join(experiments.NAMES)
        raise InputError(f"--experiment: {experiment!r} is unknown; accepted are {names}")
    try:
        params = train_utils.parse_configuration(
            train_utils.ParseConfigOptions(
                experiment=experiment,
                config_file=list(config_files),
                params_override=params_override,
                tpu=tpu,
            ),
            print_return=False,
        )
    except (LookupError, ValueError, TypeError, yaml.YAMLError, tf.errors.OpError) as error:
        reason = " ".join(str(error.args[0] if error.args else error).split())
        raise InputError(
            f"--config_file {', '.join(config_files)} and --params_override {params_override!r} "
            f"give no parameters: {reason}"
        ) from error
    _check_numbers(params)
    return params


def _check_numbers(params: config_definitions.ExperimentConfig) -> None:
    text, encoder = params.task.model.text, params.task.model.encoder.get()
    least = {
        "task.model.text.max_tokens": (text.max_tokens, 1),
        "task.model.text.word_buckets": (text.word_buckets, 2),
        "task.model.text.bigram_buckets": (text.bigram_buckets, 2),
        "task.model.encoder's embedding_dim": (encoder.embedding_dim, 1),
        "task.train_data.global_batch_size": (params.task.train_data.global_batch_size, 2),
        "task.validation_data.global_batch_size": (
            params.task.validation_data.global_batch_size,
            2,
        ),
        "trainer.train_steps": (params.trainer.train_steps, 1),
    }
    for name, (value, accepted) in least.items():
        if not isinstance(value, int) or value < accepted:
            raise InputError(f"{name}: {value!r}; accepted are whole numbers from {accepted} on")


def run(params: config_definitions.ExperimentConfig, *, mode: str, model_dir: str) -> None:
    """Trains, evaluates or both; goes on from the last checkpoint of `model_dir`.

    Raises:
      InputError: if there are no data or too few, the parameters do not fit together, the
        folder holds another model, or there is nothing to evaluate.
    """
    _check_data(params, mode)
    _check_model_dir(params, mode=mode, model_dir=model_dir)
    logging.set_verbosity(logging.WARNING)
    tf.get_logger().setLevel("ERROR")  # it warns of an optimizer that evaluating does not restore
    progress = Progress(params)
    runner = _build_runner(params, mode=mode, model_dir=model_dir, train_actions=[progress])
    step = int(runner.trainer.global_step.numpy())
    if "train" in mode and step >= params.trainer.train_steps:
        print(f"{model_dir} is trained already, to step {step}; nothing to do")
        return
    with contextlib.redirect_stdout(BesideProgress()), contextlib.ExitStack() as stack:
        if "train" in mode:
            train_utils.serialize_config(params, model_dir)
            progress.start(runner.trainer.global_step)
            stack.enter_context(contextlib.closing(progress))
        runner.run()


def _build_runner(
    params: config_definitions.ExperimentConfig,
    *,
    mode: str,
    model_dir: str,
    train_actions: list[orbit.Action],
) -> train_lib.OrbitExperimentRunner:
    try:
        if params.runtime.mixed_precision_dtype:
            performance.set_mixed_precision_policy(params.runtime.mixed_precision_dtype)
        strategy = distribute_utils.get_distribution_strategy(
            distribution_strategy=params.runtime.distribution_strategy,
            num_gpus=params.runtime.num_gpus,
            all_reduce_alg=params.runtime.all_reduce_alg,
            tpu_address=params.runtime.tpu,
        )
        with strategy.scope():
            task = task_factory.get_task(params.task, logging_dir=model_dir)
        return train_lib.OrbitExperimentRunner(
            strategy, task, mode, params, model_dir, train_actions=train_actions
        )
    except ValueError as error:
        raise InputError(f"the parameters do not fit together: {error}") from error


def _check_data(params: config_definitions.ExperimentConfig, mode: str) -> None:
    if "train" in mode:
        inputs.check_files("train_data", params.task.train_data)
    if "eval" in mode:
        inputs.check_files("validation_data", params.task.validation_data)


def _check_model_dir(
    params: config_definitions.ExperimentConfig, *, mode: str, model_dir: str
) -> None:
    try:
        tf.io.gfile.makedirs(model_dir)
    except tf.errors.OpError as error:
        raise InputError(f"--model_dir: {model_dir!r} is no folder: {error.message}") from error
    checkpoint = tf.train.latest_checkpoint(model_dir)
    if checkpoint is None:
        if mode == "eval":
            raise InputError(f"--model_dir: {model_dir!r} holds no checkpoint to evaluate")
        return
    try:
        with tf.io.gfile.GFile(f"{model_dir}/{PARAMS_FILE}") as file:
            earlier = yaml.safe_load(file.read())["task"]["model"]
    except (tf.errors.OpError, TypeError, KeyError, yaml.YAMLError) as error:
        raise InputError(
            f"--model_dir: {model_dir!r} holds a checkpoint, but no {PARAMS_FILE} that says "
            f"what it is of: {error}"
        ) from error
    now = params.task.model.as_dict()
    if earlier != now:
        raise InputError(
            f"--model_dir: {model_dir!r} holds checkpoints of another model: task.model "
            f"was {earlier}, now {now}. Name another folder"
        )


class Progress:
    """A bar over the pairs of the whole run: pairs/s, time left, loss.

    Orbit calls it after every `steps_per_loop` steps.
    """

    def __init__(self, params: config_definitions.ExperimentConfig):
        self._steps = params.trainer.train_steps
        self._batch_size = params.task.train_data.global_batch_size

    def start(self, global_step: tf.Variable) -> None:
        """Draws the bar, from the step that `global_step` was restored to."""
        self._global_step = global_step
        self._bar = tqdm(
            total=self._steps * self._batch_size,
            initial=int(global_step.numpy()) * self._batch_size,
            desc="training",
            unit=" pairs",
            unit_scale=True,
            dynamic_ncols=True,
        )

    def __call__(self, logs: dict[str, tf.Tensor]) -> None:
        """Moves the bar to the current step."""
        pairs = int(self._global_step.numpy()) * self._batch_size
        loss, p_at_1 = float(logs["training_loss"]), float(logs["p_at_1"])
        self._bar.set_postfix(loss=f"{loss:.3f}", p_at_1=f"{p_at_1:.3f}", refresh=False)
        self._bar.update(pairs - self._bar.n)

    def close(self) -> None:
        """Leaves the finished bar on the screen."""
        self._bar.close()


class BesideProgress(io.TextIOBase):
    """Standard output while a bar is drawn: what Orbit prints goes above the bar.

    What it prints of every loop of training is left out, since the bar says it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stdout = sys.stdout

    def write(self, text: str) -> int:
        """Writes one printed message."""
        if text.strip() and not text.startswith("train |"):
            tqdm.write(text.rstrip("\n"), file=self._stdout)
            self._stdout.flush()
        return len(text)
