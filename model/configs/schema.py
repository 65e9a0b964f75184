"""Everything about a run that can be chosen, as dataclasses, and the presets as YAML."""

import dataclasses
from typing import Any

from official.core import config_definitions
from official.modeling import hyperparams

RESPONSE_SELECTION = "response_selection"
INFERENCE = "inference"
"""The tasks, and the heads of a model that it needs for them."""
HIGHER = "higher"
LOWER = "lower"
"""What `trainer.best_checkpoint_metric_comp` may be."""


@dataclasses.dataclass
class Text(hyperparams.Config):
    """How strings become ids; see `model.text`."""

    max_tokens: int = 128
    """Words beyond this many are cut off."""
    word_buckets: int = 200_000
    bigram_buckets: int = 400_000
    vocabulary: str = ""
    """A folder that `python -m data_pipeline vocabulary` has written: what stands in there has
    ids of its own, beside the buckets. Without one everything is hashed."""


@dataclasses.dataclass
class Averaging(hyperparams.Config):
    """Deep averaging network, sizes of the paper (section 3.1)."""

    word_dim: int = 300
    hidden: list[int] = dataclasses.field(default_factory=lambda: [300, 300])
    embedding_dim: int = 500
    activation: str = "tanh"
    word_dropout: float = 0.0
    """The part of the words left out at random in training."""
    bigram_dropout: float = 0.0
    """The part of the bigrams left out: most are rare, and a pair is learned by heart by them."""


@dataclasses.dataclass
class Transformer(hyperparams.Config):
    """Transformer encoder, sizes of the paper (section 3.1)."""

    layers: int = 6
    heads: int = 8
    hidden: int = 512
    filter: int = 2048
    embedding_dim: int = 500
    dropout: float = 0.1
    word_dropout: float = 0.0
    """The part of the words left out at random in training."""


@dataclasses.dataclass
class Recurrent(hyperparams.Config):
    """LSTM encoder, sizes of InferSent (Conneau et al. 2017, section 3.2)."""

    word_dim: int = 300
    units: int = 2048
    """Of each direction."""
    bidirectional: bool = True
    layers: int = 1
    pooling: str = "max"
    """`max` of each unit over the words, or `last`, the state after the last word."""
    embedding_dim: int = 0
    """0 means that there is no projection: the embedding is as wide as the state."""
    dropout: float = 0.0
    """The part of the numbers left out before each LSTM layer."""
    word_dropout: float = 0.0
    """The part of the words left out at random in training."""


_ADDED: dict[str, type[hyperparams.Config]] = {}
"""Configurations of the encoders that other modules have registered."""


@dataclasses.dataclass
class Encoder(hyperparams.OneOfConfig):
    """The sentence encoder: `type` names which of the others is built.

    `model.register_encoder` adds choices: each is a section of the name that it is registered by.
    """

    type: str | None = "averaging"
    averaging: Averaging = dataclasses.field(default_factory=Averaging)
    transformer: Transformer = dataclasses.field(default_factory=Transformer)
    recurrent: Recurrent = dataclasses.field(default_factory=Recurrent)

    def __post_init__(self, *init: Any) -> None:
        for name, config in _ADDED.items():
            setattr(self, name, config())
        super().__post_init__(*init)


def add_encoder(name: str, config: type[hyperparams.Config]) -> None:
    """Adds a section to every `Encoder` made from now on.

    Raises:
      ValueError: if `config` is no configuration, or its parameters lack defaults.
    """
    if getattr(Encoder(), name, None).__class__ is config:
        return  # one of the above
    try:
        is_config = isinstance(config(), hyperparams.Config) and dataclasses.is_dataclass(config)
    except TypeError as error:
        raise ValueError(f"config: {config!r}; every parameter needs a default") from error
    if not is_config or not name.isidentifier() or hasattr(Encoder(), name):
        raise ValueError(
            f"encoder {name!r} with config {config!r}; accepted are a name that is free, and a "
            "dataclass that extends official.modeling.hyperparams.Config"
        )
    _ADDED[name] = config


@dataclasses.dataclass
class ResponseNetwork(hyperparams.Config):
    """The feed-forward network between the response's embedding and the score."""

    hidden: list[int] = dataclasses.field(default_factory=lambda: [500])
    activation: str = "tanh"
    residual: bool = False
    """Whether its output is added to its input, beginning at nothing: from the first step on a
    response scores by what it has in common with the input, rare words included."""
    normalize: bool = False
    """Whether its output has unit length, so that a score is `score_scale` times a cosine."""


@dataclasses.dataclass
class Nli(hyperparams.Config):
    """The classifier of sentence pairs, one hidden layer of 512 units (section 2.4)."""

    hidden: list[int] = dataclasses.field(default_factory=lambda: [512])
    activation: str = "tanh"
    """The paper names none; this is the one of its other networks here."""
    dropout: float = 0.0
    """The part of each hidden layer's units left out at random in training."""
    feature_dropout: float = 0.0
    """The same of what the first of them sees."""
    max_units: int = 0
    """Units of a layer on each word's vector, of which the classifier sees the largest over the
    sentence beside the embedding: one word can decide what an average hides. 0 is the paper's."""
    members: int = 1
    """Networks of these layers beside each other, each with a loss of its own; a label's
    probability is the mean of theirs. 1 is the paper's."""
    label_smoothing: float = 0.0
    """The part of a label's probability that training gives to all labels alike."""
    scale_by_root_of_dim: bool = True
    """Whether the classifier sees embeddings of unit length multiplied by sqrt(embedding_dim), and
    `max_units` likewise: it learns from larger numbers sooner. The paper has no such factor
    (section 3.1)."""


@dataclasses.dataclass
class DualEncoder(hyperparams.Config):
    """Tied encoders, response network and score (section 2.2)."""

    text: Text = dataclasses.field(default_factory=Text)
    encoder: Encoder = dataclasses.field(default_factory=Encoder)
    response_network: ResponseNetwork = dataclasses.field(default_factory=ResponseNetwork)
    score_scale: float = 1.0
    """The dot products are multiplied by this before the softmax."""
    learned_score_scale: bool = False
    """Whether `score_scale` is only where a trained positive number begins."""
    heads: list[str] = dataclasses.field(default_factory=lambda: [RESPONSE_SELECTION])
    """The tasks that the model has layers of its own for, behind the encoder."""
    nli: Nli = dataclasses.field(default_factory=Nli)
    """Of use only where `heads` has the inference."""


@dataclasses.dataclass
class Objective(hyperparams.Config):
    """Options of the loss (`model.tasks.losses`). All off is the paper's loss."""

    both_directions: bool = False
    """Whether the loss is the mean of picking the response and of picking the input."""
    margin: float = 0.0
    """By how much the true pair's dot product must beat the others', before `score_scale`: the
    additive margin of Yang et al. 2019, a part of a cosine where the response is normalized."""
    mask_duplicates: bool = False
    """Whether a copy of the true text elsewhere in the batch is no negative."""
    negatives_across_replicas: bool = False
    """Whether a replica's negatives come from all replicas, as if they were one."""


@dataclasses.dataclass
class Data(config_definitions.DataConfig):
    """Record files, and how they become batches. Of the Model Garden's fields `input_path`,
    `global_batch_size`, `shuffle_buffer_size` and `cycle_length` are read; others are refused.
    """

    batch_boundaries: list[int] = dataclasses.field(default_factory=list)
    """Steps of the run after which the batch size is another: as many as `batch_sizes`."""
    batch_sizes: list[int] = dataclasses.field(default_factory=list)
    """What follows `global_batch_size`, boundary by boundary."""
    fixed_length: bool = False
    """Whether batches are padded to `max_tokens` instead of their longest sentence: TPUs and XLA
    compile for each shape anew."""


@dataclasses.dataclass
class Training(config_definitions.TaskConfig):
    """What all tasks have."""

    model: DualEncoder = dataclasses.field(default_factory=DualEncoder)
    train_data: Data = dataclasses.field(default_factory=Data)
    validation_data: Data = dataclasses.field(default_factory=Data)
    seed: int = 0
    """Draws the initial weights, the order of the records and the dropout."""
    sts_dev: str = ""
    """A file of the STS Benchmark, such as `sts-dev.csv`: each validation says its Pearson."""


@dataclasses.dataclass
class ResponseSelection(Training):
    """Picking the true response among those of the batch (section 2.1)."""

    objective: Objective = dataclasses.field(default_factory=Objective)
    word_cooccurrence_records: int = 0
    """Initialise word vectors from the co-occurrence counts of this many training records
    (`model.initializers.cooccurrence`); 0: at random. No effect with `init_checkpoint`."""
    word_frequency_records: int = 0
    """Scale initial word vectors by SIF weights, from word counts of this many training records
    (`model.initializers.word_vectors`); 0: no scaling. No effect with `init_checkpoint`."""


@dataclasses.dataclass
class Inference(Training):
    """Natural language inference alone, such as InferSent's (section 4.2)."""


@dataclasses.dataclass
class NliShare(hyperparams.Config):
    """The part of natural language inference in a multitask run."""

    share: float = 0.05
    """Of all steps, or of all workers if they work asynchronously."""
    train_data: Data = dataclasses.field(default_factory=Data)
    validation_data: Data = dataclasses.field(default_factory=Data)


@dataclasses.dataclass
class Multitask(ResponseSelection):
    """Response selection and natural language inference, one encoder for both (section 2.4)."""

    nli: NliShare = dataclasses.field(default_factory=NliShare)


@dataclasses.dataclass
class Trainer(config_definitions.TrainerConfig):
    """The Model Garden's `TrainerConfig`, and what it lacks. Fields of it that have no effect here,
    such as `recovery_*` and `optimizer_config.ema`, are refused (`model.configs.unused`).

    A learning rate's `decay_steps` may be left out: then the decay takes all `train_steps`.
    `best_checkpoint_metric_comp` says whether the `higher` or the `lower` metric is better.
    """

    async_checkpoints: bool = False
    """Whether training goes on while a checkpoint is written, for as much memory again."""
    average_decay: float = 0.0
    """How much of the average of the weights stays at each of its steps; 0 for no average."""
    average_every: int = 10
    """The average moves once in so many steps."""
    profile_steps: int = 20
    """How many steps a profile takes in that signal USR1 asks for."""
