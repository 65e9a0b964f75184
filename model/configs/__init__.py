"""Everything about a run that can be chosen, as dataclasses, and the presets as YAML."""

import dataclasses

from official.core import config_definitions
from official.modeling import hyperparams


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


@dataclasses.dataclass
class Encoder(hyperparams.OneOfConfig):
    """The sentence encoder: `type` names which of the others is built."""

    type: str | None = "averaging"
    averaging: Averaging = dataclasses.field(default_factory=Averaging)
    transformer: Transformer = dataclasses.field(default_factory=Transformer)
    recurrent: Recurrent = dataclasses.field(default_factory=Recurrent)


@dataclasses.dataclass
class ResponseNetwork(hyperparams.Config):
    """The feed-forward network between the response's embedding and the score."""

    hidden: list[int] = dataclasses.field(default_factory=lambda: [500])
    activation: str = "tanh"
    normalize: bool = False
    """Whether its output has unit length, so that a score is `score_scale` times a cosine."""


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


@dataclasses.dataclass
class Objective(hyperparams.Config):
    """What is asked of the scores in training; see `model.losses`. All off, it is the paper's."""

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
class Nli(hyperparams.Config):
    """The classifier of sentence pairs, one hidden layer of 512 units (section 2.4)."""

    hidden: list[int] = dataclasses.field(default_factory=lambda: [512])
    activation: str = "tanh"
    """The paper names none; this is the one of its other networks here."""
    dropout: float = 0.0
    """The part of each hidden layer's units left out at random in training."""


@dataclasses.dataclass
class ResponseSelection(config_definitions.TaskConfig):
    """Picking the true response among those of the batch (section 2.1)."""

    model: DualEncoder = dataclasses.field(default_factory=DualEncoder)
    seed: int = 0
    """Draws the initial weights, the order of the records and the dropout."""
