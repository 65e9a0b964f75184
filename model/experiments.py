"""The experiments that `--experiment` names. Their numbers are the paper's (section 3.1)."""

from official.core import config_definitions, exp_factory
from official.modeling import optimization

from model import configs

NAMES = ("reddit",)


@exp_factory.register_config_factory("reddit")
def reddit() -> config_definitions.ExperimentConfig:
    """Response selection on Reddit pairs, deep averaging network."""
    return config_definitions.ExperimentConfig(
        task=configs.ResponseSelection(
            train_data=config_definitions.DataConfig(
                is_training=True, global_batch_size=128, shuffle_buffer_size=100_000
            ),
            validation_data=config_definitions.DataConfig(
                is_training=False, global_batch_size=100, drop_remainder=True
            ),
        ),
        trainer=config_definitions.TrainerConfig(
            train_steps=40_000_000,
            # On CPUs a step inside tf.while_loop takes about twice as long.
            train_tf_while_loop=False,
            steps_per_loop=1_000,
            summary_interval=1_000,
            checkpoint_interval=100_000,
            validation_interval=100_000,
            validation_steps=-1,
            optimizer_config=optimization.OptimizationConfig(
                {
                    "optimizer": {"type": "sgd"},
                    "learning_rate": {
                        "type": "stepwise",
                        "stepwise": {"boundaries": [30_000_000], "values": [0.01, 0.001]},
                    },
                }
            ),
        ),
        runtime=config_definitions.RuntimeConfig(distribution_strategy="one_device"),
    )
