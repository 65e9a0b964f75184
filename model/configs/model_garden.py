"""What the parameters mean that come from the Model Garden, for the generated reference."""

MEANING = {
    # task
    "init_checkpoint": "Start from the weights of this model folder or checkpoint. Empty: none.",
    # data
    "input_path": "Names or patterns of TFRecord files, separated by commas.",
    "global_batch_size": "Records of a step, over all replicas; at validation, of a batch.",
    "shuffle_buffer_size": "Records among which the next one is drawn at random.",
    "cycle_length": "Number of files whose records are interleaved; null: 16.",
    # trainer
    "train_steps": "Steps of the whole run.",
    "steps_per_loop": "Steps of one call of the training loop; logs and checkpoints come between "
    "two calls.",
    "summary_interval": "No effect: TensorBoard gets values after every `steps_per_loop` steps. "
    "Must be a multiple of that number.",
    "checkpoint_interval": "Steps between two checkpoints.",
    "max_to_keep": "How many of the latest checkpoints are kept.",
    "validation_interval": "Steps between two validations.",
    "validation_steps": "Batches of a validation; -1: all.",
    "validation_summary_subdir": "Folder of the validation's TensorBoard events, in `--model_dir`.",
    "best_checkpoint_eval_metric": "Validation metric that selects the checkpoint in `best/`. "
    "Empty: the first available of STS, P@1, NLI accuracy and the cosine to a teacher.",
    "best_checkpoint_metric_comp": "Whether a higher or a lower value of that metric is better.",
    "continuous_eval_timeout": "Seconds without a new checkpoint after which "
    "`--mode continuous_eval` ends.",
    # runtime
    "distribution_strategy": "How training is distributed: `one_device`, `mirrored`, "
    "`multi_worker_mirrored`, `parameter_server` or `tpu`.",
    "enable_xla": "Compile with XLA by autoclustering.",
    "tpu": "Address of a TPU; `--tpu` sets it.",
    "num_gpus": "GPUs of each process; 0: CPU.",
    "all_reduce_alg": "Algorithm that sums gradients under `mirrored` and `multi_worker_mirrored`.",
    "mixed_precision_dtype": "`bfloat16` or `float16`: layers compute in it. null: float32.",
    "loss_scale": "Factor of the loss, a number or `dynamic`; only with `float16`.",
    # sections with a choice
    "type": "The section that is used.",
    # learning rate
    "learning_rate": "The learning rate.",
    "initial_learning_rate": "Learning rate at the start.",
    "end_learning_rate": "Learning rate at the end.",
    "boundaries": "Steps at which the value changes.",
    "values": "Values between the boundaries: one more than there are boundaries.",
    "offset": "Step at which the schedule begins.",
    "decay_steps": "Steps of the decay; where 0 and null are accepted: all steps of the run.",
    "total_decay_steps": "Steps of the decay; 0 and null: all steps of the run.",
    "decay_rate": "Factor of an exponential decay; for Adafactor, the exponent of its moments' "
    "decay.",
    "staircase": "Decay in jumps.",
    "cycle": "Begin again after the last step of the decay.",
    "alpha": "Learning rate at the end, as a fraction of the one at the start.",
    "power": "Exponent.",
    "linear_decay_fraction": "Last fraction of the steps, in which the rate falls to 0 linearly.",
    "pre_offset_learning_rate": "Learning rate before `offset`.",
    "warmup_steps": "Steps of the warm-up.",
    "warmup_learning_rate": "Learning rate at the first step of the warm-up.",
    # optimizers
    "clipnorm": "Clip each gradient to this norm.",
    "clipvalue": "Clip each element of a gradient to this absolute value.",
    "global_clipnorm": "Clip all gradients together to this norm.",
    "gradient_clip_norm": "Clip all gradients together to this norm; 0: no clipping.",
    "decay": "Decay of the learning rate at each step.",
    "momentum": "Momentum.",
    "nesterov": "Use Nesterov momentum.",
    "classic_momentum": "Apply the learning rate in the update of the momentum, not after it.",
    "jit_compile": "Compile the update with XLA.",
    "beta_1": "Decay of the first moments.",
    "beta1": "Decay of the first moments; null: none are kept.",
    "beta_2": "Decay of the second moments.",
    "beta_2_decay": "Exponent of the second moments' decay.",
    "rho": "Decay of the squared gradients' mean.",
    "epsilon": "Added to a denominator.",
    "epsilon1": "Added to squared gradients.",
    "epsilon_1": "Added to squared gradients.",
    "epsilon2": "Smallest scale of a parameter.",
    "epsilon_2": "Smallest scale of a parameter.",
    "amsgrad": "Keep the maximum of the second moments (AMSGrad).",
    "centered": "Subtract the mean of the gradients from their second moments.",
    "initial_accumulator_value": "First value of the sums of squared gradients.",
    "weight_decay": "Weight decay.",
    "weight_decay_rate": "Weight decay.",
    "include_in_weight_decay": "Patterns of names of weights that decay.",
    "exclude_from_weight_decay": "Patterns of names of weights that do not decay.",
    "exclude_from_layer_adaptation": "Patterns of names of weights without layer-wise rates.",
    "eeta": "Trust coefficient of LARS.",
    "factored": "Factor the second moments of matrices.",
    "multiply_by_parameter_scale": "Multiply the learning rate by the size of the parameter.",
    "step_offset": "Steps that count as already done.",
    "clipping_threshold": "Largest root mean square of an update.",
    "clip_threshold": "Largest root mean square of an update.",
    "min_dim_size_to_factor": "Smallest dimension that is factored.",
    "relative_step": "Let the learning rate fall with the steps.",
}
"""By the parameter's name: it means the same wherever it occurs."""
