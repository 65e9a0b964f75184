"""All parameters of a run, as dataclasses of the Model Garden; `presets/` holds YAML files."""

import dataclasses
from typing import Any

from official.core import config_definitions
from official.modeling import hyperparams

RESPONSE_SELECTION = "response_selection"
NLI = "nli"
TEACHER = "teacher"
TASKS = (RESPONSE_SELECTION, NLI, TEACHER)
"""Names of the tasks."""
HIGHER = "higher"
LOWER = "lower"
"""Values of `trainer.best_checkpoint_metric_comp`."""


@dataclasses.dataclass
class Text(hyperparams.Config):
    """Text preprocessing: strings to ids; see `model.text`."""

    max_tokens: int = 128
    """Longer texts are cut off after this many words."""
    word_buckets: int = 200_000
    """Rows of the word table that hashed words share."""
    bigram_buckets: int = 400_000
    """Rows of the bigram table that hashed bigrams share. 0: no bigrams. Only encoder
    `averaging` uses them."""
    char_ngram_buckets: int = 0
    """Buckets of character n-grams (of each character with its two neighbors, word boundaries
    marked): unknown and misspelt words get vectors too. Needs a `vocabulary`; only for encoder
    `averaging`. 0: none."""
    vocabulary: str = ""
    """A folder written by `python -m data_pipeline vocabulary`. Its words and bigrams get ids of
    their own; all others are hashed into the buckets. Empty: everything is hashed."""


@dataclasses.dataclass
class Averaging(hyperparams.Config):
    """Deep averaging network; defaults are the paper's sizes (section 3.1)."""

    word_dim: int = 300
    """Width of the word vectors."""
    hidden: list[int] = dataclasses.field(default_factory=lambda: [300, 300])
    """Units of each hidden layer; `[]`: none."""
    embedding_dim: int = 500
    """Width of the sentence embedding."""
    activation: str = "tanh"
    """Activation of the hidden layers, by Keras's name."""
    word_dropout: float = 0.0
    """Fraction of words dropped in training."""
    bigram_dropout: float = 0.0
    """Fraction of bigrams dropped in training; rare bigrams let the model memorise pairs."""
    bigram_weight: float = 1.0
    """Factor of the bigrams' sum."""
    char_ngram_dropout: float = 0.0
    """Fraction of the character n-grams of the vocabulary's words dropped in training; other words
    keep theirs."""
    char_ngram_weight: float = 0.5
    """Factor of the character n-grams' sum."""
    word_weights: str = "initial"
    """Frequency weights a / (a + p) of words (SIF, Arora et al. 2017), p being a word's share of
    all words. `initial`: multiplied into the initial word vectors, as `word_frequency_records`
    says. `fixed`: kept beside them, for the sum of a word's vector and its character n-grams.
    `learned`: kept and trained. The counts are those of `word_frequency_records` records or,
    at 0, of the vocabulary."""


@dataclasses.dataclass
class Transformer(hyperparams.Config):
    """Transformer encoder; defaults are the paper's sizes (section 3.1)."""

    layers: int = 6
    """Transformer layers."""
    heads: int = 8
    """Attention heads of each layer; their number must divide `hidden`."""
    hidden: int = 512
    """Width of the layers and of the word vectors; an even number."""
    filter: int = 2048
    """Units of each feed-forward layer."""
    embedding_dim: int = 500
    """Width of the sentence embedding."""
    dropout: float = 0.1
    """Dropout rate inside the layers."""
    word_dropout: float = 0.0
    """Fraction of words dropped in training."""


@dataclasses.dataclass
class Recurrent(hyperparams.Config):
    """LSTM encoder; defaults are InferSent's sizes (Conneau et al. 2017, section 3.2)."""

    word_dim: int = 300
    """Width of the word vectors."""
    units: int = 2048
    """Units of each direction."""
    bidirectional: bool = True
    """Read the words in both directions."""
    layers: int = 1
    """LSTM layers."""
    pooling: str = "max"
    """`max`: maximum of each unit over the words; `last`: state after the last word."""
    embedding_dim: int = 0
    """Width of a final projection; 0: none, the embedding has the width of the state."""
    dropout: float = 0.0
    """Dropout rate before each LSTM layer."""
    word_dropout: float = 0.0
    """Fraction of words dropped in training."""


_ADDED: dict[str, type[hyperparams.Config]] = {}
"""Configurations of the encoders that other modules have registered."""


@dataclasses.dataclass
class Encoder(hyperparams.OneOfConfig):
    """The sentence encoder: `type` names which of the others is built.

    `model.register_encoder` adds choices: each is a section of the name that it is registered by.
    """

    type: str | None = "averaging"
    """The section that is used."""
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
      ValueError: if `config` is not a configuration, or its parameters lack defaults.
    """
    if getattr(Encoder(), name, None).__class__ is config:
        return  # one of the above
    try:
        is_config = isinstance(config(), hyperparams.Config) and dataclasses.is_dataclass(config)
    except TypeError as error:
        raise ValueError(f"config: {config!r}; every parameter needs a default") from error
    if not is_config or not name.isidentifier() or hasattr(Encoder(), name):
        raise ValueError(
            f"encoder {name!r} with config {config!r}; accepted: a name that is free, and a "
            "dataclass that extends official.modeling.hyperparams.Config"
        )
    _ADDED[name] = config


@dataclasses.dataclass
class ResponseNetwork(hyperparams.Config):
    """Feed-forward network between the response's embedding and the score (figure 3)."""

    hidden: list[int] = dataclasses.field(default_factory=lambda: [500])
    """Units of each hidden layer; `[]`: none."""
    activation: str = "tanh"
    """Activation of the hidden layers, by Keras's name."""
    residual: bool = False
    """Add the output, initially 0, to the input: from the first step on a response scores by the
    words that it shares with the input."""
    normalize: bool = False
    """L2-normalize the output: a score is then `score_scale` times a cosine."""


@dataclasses.dataclass
class Nli(hyperparams.Config):
    """Classifier of sentence pairs; by default one hidden layer of 512 units (section 2.4)."""

    hidden: list[int] = dataclasses.field(default_factory=lambda: [512])
    """Units of each hidden layer; `[]`: none."""
    activation: str = "tanh"
    """Activation of the hidden layers. The paper names none; `tanh` is what its other networks use
    here."""
    dropout: float = 0.0
    """Dropout rate after each hidden layer."""
    feature_dropout: float = 0.0
    """Dropout rate of the classifier's input."""
    max_units: int = 0
    """Units of a layer on word vectors, max-pooled over the sentence and concatenated to its
    embedding: one word can decide what an average hides. 0, as in the paper: no such layer."""
    members: int = 1
    """Size of an ensemble of classifiers, each with its own loss; probabilities are averaged. The
    paper has 1."""
    label_smoothing: float = 0.0
    """Label smoothing in training."""
    scale_by_root_of_dim: bool = True
    """Multiply the unit-length embeddings by sqrt(embedding_dim) before the classifier, and those
    of `max_units` likewise: the classifier then learns faster. The paper has no such factor
    (section 3.1)."""


@dataclasses.dataclass
class DualEncoder(hyperparams.Config):
    """Tied encoders, response network and score (section 2.2)."""

    text: Text = dataclasses.field(default_factory=Text)
    encoder: Encoder = dataclasses.field(default_factory=Encoder)
    response_network: ResponseNetwork = dataclasses.field(default_factory=ResponseNetwork)
    context_turns: int = 0
    """Messages before the input that join it in response selection, the nearest first: features
    `context/0`, ... of pairs written with `--context_turns`. 0, as in the paper: none."""
    score_scale: float = 1.0
    """Factor of the dot products before the softmax."""
    learned_score_scale: bool = False
    """Train the scale, starting from `score_scale`."""
    heads: list[str] = dataclasses.field(default_factory=lambda: [RESPONSE_SELECTION])
    """Tasks that the model is for: `response_selection` and `nli`, each with layers of its own
    on top of the encoder, and `teacher`, which needs none."""
    nli: Nli = dataclasses.field(default_factory=Nli)
    """Read only if `heads` has `nli`."""


@dataclasses.dataclass
class Objective(hyperparams.Config):
    """Options of the in-batch softmax loss (`model.tasks.losses`); the defaults are the paper's."""

    both_directions: bool = False
    """Average the loss of picking the response and the loss of picking the input."""
    margin: float = 0.0
    """Additive margin (Yang et al. 2019), subtracted from the true pair's dot product before
    `score_scale`."""
    mask_duplicates: bool = False
    """Do not count a copy of the true text elsewhere in the batch as a negative."""
    negatives_across_replicas: bool = False
    """Take negatives from all replicas, as if the global batch were on one device."""


@dataclasses.dataclass
class DistillationObjective(hyperparams.Config):
    """Loss of the teacher task (`model.tasks.teacher`)."""

    scale: float = 20.0
    """Factor of the cosines before the softmax over the texts of the batch."""
    cosine_weight: float = 5.0
    """Weight of the cosine distance to the text's own target, beside the softmax."""


@dataclasses.dataclass
class NliObjective(hyperparams.Config):
    """Loss of the NLI task (`model.tasks.nli`), beside the classifier's cross-entropy."""

    entailment_weight: float = 0.0
    """Weight of a softmax that picks each entailed hypothesis among all hypotheses of the batch,
    and its premise among all premises (Gao et al. 2021, section 4): entailed pairs get similar
    embeddings, contradictions do not. 0: none."""
    scale: float = 20.0
    """Factor of the cosines before that softmax."""


@dataclasses.dataclass
class Data(config_definitions.DataConfig):
    """TFRecord files and batching. Of the Model Garden's fields `input_path`, `global_batch_size`,
    `shuffle_buffer_size` and `cycle_length` are read; others are refused.
    """

    batch_boundaries: list[int] = dataclasses.field(default_factory=list)
    """Steps of the run at which the batch size changes; as many as `batch_sizes`."""
    batch_sizes: list[int] = dataclasses.field(default_factory=list)
    """Global batch size from each boundary on."""
    fixed_length: bool = False
    """Pad batches to `max_tokens`, not to their longest sentence, because TPUs and XLA compile once
    for each shape."""


@dataclasses.dataclass
class Training(config_definitions.TaskConfig):
    """Parameters that all tasks share."""

    model: DualEncoder = dataclasses.field(default_factory=DualEncoder)
    train_data: Data = dataclasses.field(default_factory=Data)
    validation_data: Data = dataclasses.field(default_factory=Data)
    seed: int = 0
    """Seed of the initial weights, the order of the records and the dropout."""
    sts_dev: str = ""
    """A file of the STS Benchmark, such as `sts-dev.csv`; each validation reports Pearson's r on
    it. Empty: none."""
    word_cooccurrence_records: int = 0
    """Initialise word vectors from the co-occurrence counts of this many training records
    (`model.initializers.cooccurrence`); 0: at random. No effect with `init_checkpoint`."""
    word_vectors: str = ""
    """Initialise word vectors from a file in GloVe's, fastText's or word2vec's format
    (`model.initializers.vectors_file`), brought to the model's width by PCA. Empty: none. Not with
    `word_cooccurrence_records` or `init_checkpoint`."""
    char_ngram_fit: float = 0.0
    """Initialise character n-grams with random values plus this factor times a regression of the
    vectors in `word_vectors` on the words' n-grams (`model.initializers.char_ngrams`): a word
    outside the vocabulary begins near words that are spelt like it. 0: random values only. No
    effect with `init_checkpoint`."""
    word_frequency_records: int = 0
    """Scale initial word vectors by SIF weights, from word counts of this many training records
    (`model.initializers.word_vectors`); 0: no scaling. No effect with `init_checkpoint`."""


@dataclasses.dataclass
class ResponseSelection(Training):
    """Picking the true response among those of the batch (section 2.1)."""

    objective: Objective = dataclasses.field(default_factory=Objective)


@dataclasses.dataclass
class NliClassification(Training):
    """NLI (natural language inference) alone, as in InferSent (section 4.2)."""

    objective: NliObjective = dataclasses.field(default_factory=NliObjective)


@dataclasses.dataclass
class Distillation(Training):
    """Learning a teacher's embeddings of unlabelled texts, alone."""

    objective: DistillationObjective = dataclasses.field(default_factory=DistillationObjective)


ALONE: dict[str, type[Training]] = {NLI: NliClassification, TEACHER: Distillation}
"""The configuration of each further task when it is alone."""


@dataclasses.dataclass
class FurtherTask(hyperparams.Config):
    """A task beside response selection in a multitask run."""

    share: float = 0.05
    """Fraction of the steps that train this task; with parameter servers, of the workers. Response
    selection gets the rest."""
    train_data: Data = dataclasses.field(default_factory=Data)
    validation_data: Data = dataclasses.field(default_factory=Data)


@dataclasses.dataclass
class NliData(FurtherTask):
    """NLI in a multitask run."""

    objective: NliObjective = dataclasses.field(default_factory=NliObjective)


@dataclasses.dataclass
class TeacherData(FurtherTask):
    """A teacher in a multitask run."""

    share: float = 0.5
    """Fraction of the steps that train this task; with parameter servers, of the workers."""
    objective: DistillationObjective = dataclasses.field(default_factory=DistillationObjective)


@dataclasses.dataclass
class Multitask(ResponseSelection):
    """Response selection and NLI with one encoder for both (section 2.4)."""

    nli: NliData = dataclasses.field(default_factory=NliData)


@dataclasses.dataclass
class TeacherMultitask(ResponseSelection):
    """Response selection and a teacher with one encoder for both."""

    teacher: TeacherData = dataclasses.field(default_factory=TeacherData)


@dataclasses.dataclass
class NliTeacherMultitask(Multitask):
    """Response selection, NLI and a teacher with one encoder for all."""

    teacher: TeacherData = dataclasses.field(default_factory=TeacherData)


def further_tasks(task: Training) -> dict[str, FurtherTask]:
    """The sections of the tasks beside response selection, by the tasks' names."""
    sections = {name: getattr(task, name, None) for name in TASKS}
    return {name: part for name, part in sections.items() if isinstance(part, FurtherTask)}


def trained_tasks(task: Training) -> list[str]:
    """The names of the tasks that a configuration trains."""
    alone = (name for name, config in ALONE.items() if isinstance(task, config))
    return [next(alone, RESPONSE_SELECTION), *further_tasks(task)]


@dataclasses.dataclass
class Trainer(config_definitions.TrainerConfig):
    """The Model Garden's `TrainerConfig` with additions. Its fields that have no effect here, such
    as `recovery_*` and `optimizer_config.ema`, are refused (`model.configs.unused`).

    A learning rate's `decay_steps` may be left out: the decay then takes all `train_steps`.
    """

    async_checkpoints: bool = False
    """Write checkpoints while training goes on; needs the memory of the weights twice."""
    average_decay: float = 0.0
    """Decay of a moving average of the weights, which is validated and exported; 0: no average."""
    average_every: int = 10
    """The average is updated once in this many steps."""
