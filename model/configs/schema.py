"""The sections of an experiment's parameters; `presets/` holds YAML files of them."""

import dataclasses
import functools
from typing import Any

from official.core import config_definitions
from official.modeling import hyperparams

from model.configs.optimization import Optimization
from model.configs.parameter import Misfits, parameter

RESPONSE_SELECTION = "response_selection"
NLI = "nli"
TEACHER = "teacher"
TASKS = (RESPONSE_SELECTION, NLI, TEACHER)
"""Names of the tasks."""
WORD_WEIGHTS = INITIAL, FIXED, LEARNED = "initial", "fixed", "learned"
"""Values of `word_weights` of an averaging encoder."""
POOLING = LAST, MAX = "last", "max"
"""Values of `pooling` of a recurrent encoder."""
PARAMETER_SERVER = "parameter_server"
BFLOAT16, AUTO = "bfloat16", "auto"
STRATEGIES = ("one_device", "mirrored", "multi_worker_mirrored", PARAMETER_SERVER)
_FRACTION: dict[str, Any] = {"minimum": 0, "below": 1}
_EMBEDDING_DIM = "Width of the sentence embedding."
_WORD_DROPOUT = "Fraction of words dropped in training."
_HIDDEN = "Units of each hidden layer; `[]`: none."
_activation = functools.partial(
    parameter,
    "tanh",
    choices=(
        *("elu", "exponential", "gelu", "hard_sigmoid", "linear", "mish", "relu", "selu"),
        *("sigmoid", "softplus", "softsign", "swish", "tanh"),
    ),
)
"""Declares an activation by Keras's name."""
_ACTIVATION = "Activation of the hidden layers."
_SHARE = (
    "Fraction of the steps that train this task; with parameter servers, of the workers. Response "
    "selection gets the rest."
)


@dataclasses.dataclass
class Text(hyperparams.Config):
    """Text preprocessing: strings to ids; see `model.text`."""

    max_tokens: int = parameter(128, "Longer texts are cut off after this many words.", minimum=1)
    word_buckets: int = parameter(
        200_000, "Rows of the word table that hashed words share.", minimum=2
    )
    bigram_buckets: int = parameter(
        400_000,
        "Rows of the bigram table that hashed bigrams share, for encoder `averaging`. 0: none.",
        minimum=2,
        or_0=True,
    )
    char_ngram_buckets: int = parameter(
        0,
        "Buckets of character n-grams, which give unknown and misspelt words vectors too. Needs a "
        "`vocabulary`, and encoder `averaging`. 0: none.",
        minimum=2,
        or_0=True,
    )
    vocabulary: str = parameter(
        "",
        "A folder written by `python -m data_pipeline vocabulary`, whose words and bigrams get ids "
        "of their own. Empty: everything is hashed.",
    )


@dataclasses.dataclass
class Averaging(hyperparams.Config):
    """Deep averaging network; defaults are the paper's sizes (section 3.1)."""

    word_dim: int = parameter(300, "Width of the word vectors.", minimum=1)
    hidden: list[int] = parameter([300, 300], _HIDDEN, minimum=1)
    embedding_dim: int = parameter(500, _EMBEDDING_DIM, minimum=1)
    activation: str = _activation(_ACTIVATION)
    word_dropout: float = parameter(0.0, _WORD_DROPOUT, **_FRACTION)
    bigram_dropout: float = parameter(
        0.0,
        "Fraction of bigrams dropped in training; rare bigrams let the model memorise pairs.",
        **_FRACTION,
    )
    bigram_weight: float = parameter(1.0, "Factor of the bigrams' sum.", minimum=0)
    char_ngram_dropout: float = parameter(
        0.0,
        "Fraction of the character n-grams of the vocabulary's words dropped in training; other "
        "words keep theirs.",
        **_FRACTION,
    )
    char_ngram_weight: float = parameter(0.5, "Factor of the character n-grams' sum.", minimum=0)
    word_weights: str = parameter(
        INITIAL,
        "Frequency weights of words (SIF). `initial`: multiplied into the initial word vectors, as "
        "`word_frequency_records` says. `fixed`: kept beside them, for the sum of a word's vector "
        "and its character n-grams. `learned`: kept and trained. The counts are those of "
        "`word_frequency_records` records or, at 0, of the vocabulary.",
        choices=WORD_WEIGHTS,
    )


@dataclasses.dataclass
class Transformer(hyperparams.Config):
    """Transformer encoder; defaults are the paper's sizes (section 3.1)."""

    layers: int = parameter(6, "Transformer layers.", minimum=1)
    heads: int = parameter(
        8, "Attention heads of each layer; their number must divide `hidden`.", minimum=1
    )
    hidden: int = parameter(
        512, "Width of the layers and of the word vectors; an even number.", minimum=1
    )
    filter: int = parameter(2048, "Units of each feed-forward layer.", minimum=1)
    embedding_dim: int = parameter(500, _EMBEDDING_DIM, minimum=1)
    dropout: float = parameter(0.1, "Dropout rate inside the layers.", **_FRACTION)
    word_dropout: float = parameter(0.0, _WORD_DROPOUT, **_FRACTION)

    def misfits(self) -> Misfits:
        """A width that the heads or the timing signal cannot share."""
        if self.hidden % 2 or self.hidden % self.heads:
            yield "hidden", f"even numbers that can be divided by its heads, {self.heads}"


@dataclasses.dataclass
class Recurrent(hyperparams.Config):
    """LSTM encoder; defaults are InferSent's sizes (Conneau et al. 2017, section 3.2)."""

    word_dim: int = parameter(300, "Width of the word vectors.", minimum=1)
    units: int = parameter(2048, "Units of each direction.", minimum=1)
    bidirectional: bool = parameter(True, "Read the words in both directions.")
    layers: int = parameter(1, "LSTM layers.", minimum=1)
    pooling: str = parameter(
        MAX,
        "`max`: maximum of each unit over the words; `last`: state after the last word.",
        choices=POOLING,
    )
    embedding_dim: int = parameter(
        0,
        "Width of a final projection; 0: none, the embedding has the width of the state.",
        minimum=0,
    )
    dropout: float = parameter(0.0, "Dropout rate before each LSTM layer.", **_FRACTION)
    word_dropout: float = parameter(0.0, _WORD_DROPOUT, **_FRACTION)


ENCODERS: dict[str, type[hyperparams.Config]] = {}
"""The section of each encoder that is registered."""


@dataclasses.dataclass
class Encoder(hyperparams.OneOfConfig):
    """The sentence encoder: `type` names which of the others is built.

    `model.register_encoder` adds choices: each is a section of the name that it is registered by.
    """

    type: str = parameter("averaging", "The section that is used.")
    averaging: Averaging = dataclasses.field(default_factory=Averaging)
    transformer: Transformer = dataclasses.field(default_factory=Transformer)
    recurrent: Recurrent = dataclasses.field(default_factory=Recurrent)

    def __post_init__(self, *init: Any) -> None:
        for name, config in ENCODERS.items():
            setattr(self, name, getattr(self, name, None) or config())
        super().__post_init__(*init)


@dataclasses.dataclass
class ResponseNetwork(hyperparams.Config):
    """Feed-forward network between the response's embedding and the score (figure 3)."""

    hidden: list[int] = parameter([500], _HIDDEN, minimum=1)
    activation: str = _activation(_ACTIVATION)
    residual: bool = parameter(
        False,
        "Add the output, initially 0, to the input: shared words score from the first step on.",
    )
    normalize: bool = parameter(
        False, "L2-normalize the output: a score is then `score_scale` times a cosine."
    )


@dataclasses.dataclass
class Nli(hyperparams.Config):
    """Classifier of sentence pairs; by default one hidden layer of 512 units (section 2.4)."""

    hidden: list[int] = parameter([512], _HIDDEN, minimum=1)
    activation: str = _activation("Activation of the hidden layers; the paper names none.")
    dropout: float = parameter(0.0, "Dropout rate after each hidden layer.", **_FRACTION)
    feature_dropout: float = parameter(0.0, "Dropout rate of the classifier's input.", **_FRACTION)
    max_units: int = parameter(
        0,
        "Units of a layer on word vectors, max-pooled over the sentence and concatenated to its "
        "embedding. 0, as in the paper: no such layer.",
        minimum=0,
    )
    members: int = parameter(
        1,
        "Classifiers, each with its own loss, whose probabilities are averaged; the paper has 1.",
        minimum=1,
    )
    label_smoothing: float = parameter(0.0, "Label smoothing in training.", **_FRACTION)
    scale_by_root_of_dim: bool = parameter(
        True,
        "Multiply the unit-length embeddings by sqrt(embedding_dim) before the classifier, which "
        "then learns faster. The paper has no such factor.",
    )


@dataclasses.dataclass
class DualEncoder(hyperparams.Config):
    """Tied encoders, response network and score (section 2.2)."""

    text: Text = dataclasses.field(default_factory=Text)
    encoder: Encoder = dataclasses.field(default_factory=Encoder)
    response_network: ResponseNetwork = dataclasses.field(default_factory=ResponseNetwork)
    context_turns: int = parameter(
        0,
        "Messages before the input that join it in response selection, of pairs written with "
        "`--context_turns`. 0, as in the paper: none.",
        minimum=0,
        maximum=100,
    )
    score_scale: float = parameter(
        1.0, "Factor of the dot products before the softmax.", above=0, maximum=1000
    )
    learned_score_scale: bool = parameter(False, "Train the scale, starting from `score_scale`.")
    heads: list[str] = parameter(
        [RESPONSE_SELECTION],
        "Tasks that the model is for; `response_selection` and `nli` have layers of their own.",
        choices=TASKS,
    )
    nli: Nli = dataclasses.field(default_factory=Nli)

    def misfits(self) -> Misfits:
        """Parts that would have no effect."""
        if not self.heads:
            yield "heads", f"one or several of {', '.join(TASKS)}"
        if self.text.char_ngram_buckets and self.encoder.type != "averaging":
            yield "text.char_ngram_buckets", f"0 with encoder.type={self.encoder.type}"
        if self.context_turns and RESPONSE_SELECTION not in self.heads:
            yield "context_turns", f"0 without {RESPONSE_SELECTION} in heads"


@dataclasses.dataclass
class Objective(hyperparams.Config):
    """Options of the in-batch softmax loss (`model.losses`); the defaults are the paper's."""

    both_directions: bool = parameter(
        False, "Average the loss of picking the response and the loss of picking the input."
    )
    margin: float = parameter(
        0.0,
        "Additive margin (Yang et al. 2019), subtracted from the true pair's dot product before "
        "`score_scale`; at most 2 with `response_network.normalize`.",
        minimum=0,
    )
    mask_duplicates: bool = parameter(
        False, "Do not count a copy of the true text elsewhere in the batch as a negative."
    )
    negatives_across_replicas: bool = parameter(
        False, "Take negatives from all replicas, as if the global batch were on one device."
    )


@dataclasses.dataclass
class DistillationObjective(hyperparams.Config):
    """Loss of the teacher task (`model.tasks.teacher`)."""

    scale: float = parameter(
        20.0,
        "Factor of the cosines before the softmax over the texts of the batch.",
        above=0,
        maximum=1000,
    )
    cosine_weight: float = parameter(
        5.0,
        "Weight of the cosine distance to the text's own target, beside the softmax.",
        minimum=0,
    )
    matrix_weight: float = parameter(
        0.0,
        "Weight of the cross-entropy from the softmax over a text's cosines with the batch's other "
        "texts by the teacher to that by the model, both times `scale` (Passalis and Tefas 2018, "
        "arXiv 1803.10837). 0: none.",
        minimum=0,
        maximum=1000,
    )


@dataclasses.dataclass
class NliObjective(hyperparams.Config):
    """Loss of the NLI task (`model.tasks.nli`), beside the classifier's cross-entropy."""

    entailment_weight: float = parameter(
        0.0,
        "Weight of a softmax that picks each entailed hypothesis among all hypotheses of the "
        "batch, and its premise among all premises (Gao et al. 2021, section 4). 0: none.",
        minimum=0,
        maximum=1000,
    )
    scale: float = parameter(
        20.0, "Factor of the cosines before that softmax.", above=0, maximum=1000
    )


@dataclasses.dataclass
class Data(config_definitions.DataConfig):
    """TFRecord files and batching."""

    input_path: str | list[str] = parameter(
        "", "Names or patterns of TFRecord files, separated by commas."
    )
    global_batch_size: int = parameter(
        0, "Records of a step, over all replicas; at validation, of a batch.", minimum=2
    )
    shuffle_buffer_size: int = parameter(
        100,
        "Records among which the next one is drawn at random. Only of training data.",
        minimum=1,
    )
    batch_boundaries: list[int] = parameter(
        [],
        "Steps at which the batch size changes; as many as `batch_sizes`. Only of training data.",
        minimum=1,
    )
    batch_sizes: list[int] = parameter(
        [], "Global batch size from each boundary on. Only of training data.", minimum=2
    )

    def misfits(self) -> Misfits:
        """Batch sizes that do not fit, and what validation does not read."""
        boundaries, sizes = self.batch_boundaries, self.batch_sizes
        if len(boundaries) != len(sizes) or sorted(set(boundaries)) != list(boundaries):
            yield "batch_boundaries", f"rising steps, one for each of batch_sizes {sizes}"
        for name in ("shuffle_buffer_size", "batch_boundaries"):
            default = getattr(Data(), name)
            if not self.is_training and getattr(self, name) != default:
                yield name, f"{default!r}, since validation does not read it"


_train_data = functools.partial(
    Data, is_training=True, global_batch_size=128, shuffle_buffer_size=100_000
)
_validation_data = functools.partial(Data, is_training=False, global_batch_size=100)


@dataclasses.dataclass
class Training(config_definitions.TaskConfig):
    """Parameters that all tasks share."""

    first_task = RESPONSE_SELECTION
    """Its name."""

    model: DualEncoder = dataclasses.field(default_factory=DualEncoder)
    train_data: Data = dataclasses.field(default_factory=_train_data)
    validation_data: Data = dataclasses.field(default_factory=_validation_data)
    init_checkpoint: str = parameter(
        "", "Start from the weights of this model folder or checkpoint. Empty: none."
    )
    seed: int = parameter(
        0,
        "Seed of the initial weights, the order of the records and the dropout.",
        minimum=0,
        maximum=9_000_000,  # draws use it times 1,000,003 squared, an int64
    )
    sts_dev: str = parameter(
        "", "A file of the STS Benchmark, on which validations report Pearson's r. Empty: none."
    )
    word_cooccurrence_records: int = parameter(
        0,
        "Initialise word vectors from the co-occurrence counts of this many training records. 0: "
        "at random. No effect with `init_checkpoint`.",
        minimum=0,
    )
    word_vectors: str = parameter(
        "",
        "Initialise word vectors from a file in GloVe's, fastText's or word2vec's text format, "
        "brought to the model's width by PCA. Empty: none. Not with `word_cooccurrence_records` or "
        "`init_checkpoint`.",
    )
    char_ngram_fit: float = parameter(
        0.0,
        "Initialise character n-grams with random values plus this factor times a regression of "
        "the vectors in `word_vectors` on the words' n-grams. 0: random values only. No effect "
        "with `init_checkpoint`.",
        minimum=0,
    )
    word_frequency_records: int = parameter(
        0,
        "Scale initial word vectors by SIF weights, from word counts of this many training "
        "records. 0: no scaling. No effect with `init_checkpoint`.",
        minimum=0,
    )

    def misfits(self) -> Misfits:
        """A model without the tasks, and parameters that exclude others."""
        heads, trained = self.model.heads, trained_tasks(self)
        # The model card says of which task `train_data` are: the first one.
        if heads[:1] != trained[:1] or not set(trained) <= set(heads):
            accepted = f"the tasks of the experiment ({', '.join(trained)}) first, and others"
            yield "model.heads", accepted
        for name in ("word_cooccurrence_records", "init_checkpoint"):
            if self.word_vectors and getattr(self, name):
                yield "word_vectors", f"none with {name}, which initialises word vectors too"
        encoder = self.model.encoder
        fits = self.word_vectors and self.model.text.char_ngram_buckets
        if self.char_ngram_fit and not (fits and encoder.averaging.char_ngram_weight):
            needed = "word_vectors, model.text.char_ngram_buckets and their char_ngram_weight"
            yield "char_ngram_fit", f"0 without {needed}"


@dataclasses.dataclass
class ResponseSelection(Training):
    """Picking the true response among those of the batch (section 2.1)."""

    objective: Objective = dataclasses.field(default_factory=Objective)

    def misfits(self) -> Misfits:
        """A margin beyond all cosines, and no steps for this task."""
        yield from super().misfits()
        if self.model.response_network.normalize and self.objective.margin > 2:
            yield "objective.margin", "at most 2 with model.response_network.normalize"
        shares = {f"{name}.share": further.share for name, further in further_tasks(self).items()}
        if sum(shares.values()) >= 1:
            accepted = f"less than 1 in all of {', '.join(shares)}; response selection has the rest"
            yield max(shares, key=shares.__getitem__), accepted


@dataclasses.dataclass
class NliClassification(Training):
    """NLI (natural language inference) alone, as in InferSent (section 4.2)."""

    first_task = NLI
    objective: NliObjective = dataclasses.field(default_factory=NliObjective)


@dataclasses.dataclass
class Distillation(Training):
    """Learning a teacher's embeddings of unlabelled texts, alone."""

    first_task = TEACHER
    objective: DistillationObjective = dataclasses.field(default_factory=DistillationObjective)


@dataclasses.dataclass
class FurtherTask(hyperparams.Config):
    """A task beside response selection in a multitask run."""

    share: float = parameter(0.05, _SHARE, **_FRACTION)
    train_data: Data = dataclasses.field(default_factory=_train_data)
    validation_data: Data = dataclasses.field(default_factory=_validation_data)


@dataclasses.dataclass
class FurtherNli(FurtherTask):
    """NLI in a multitask run."""

    objective: NliObjective = dataclasses.field(default_factory=NliObjective)


@dataclasses.dataclass
class FurtherTeacher(FurtherTask):
    """A teacher in a multitask run."""

    share: float = parameter(0.5, _SHARE, **_FRACTION)
    objective: DistillationObjective = dataclasses.field(default_factory=DistillationObjective)


@dataclasses.dataclass
class NliMultitask(ResponseSelection):
    """Response selection and NLI with one encoder for both (section 2.4)."""

    nli: FurtherNli = dataclasses.field(default_factory=FurtherNli)


@dataclasses.dataclass
class TeacherMultitask(ResponseSelection):
    """Response selection and a teacher with one encoder for both."""

    teacher: FurtherTeacher = dataclasses.field(default_factory=FurtherTeacher)


@dataclasses.dataclass
class NliTeacherMultitask(NliMultitask):
    """Response selection, NLI and a teacher with one encoder for all."""

    teacher: FurtherTeacher = dataclasses.field(default_factory=FurtherTeacher)


def further_tasks(task: Training) -> dict[str, FurtherTask]:
    """The sections of the tasks beside response selection, by the tasks' names."""
    sections = {name: getattr(task, name, None) for name in TASKS}
    return {name: part for name, part in sections.items() if isinstance(part, FurtherTask)}


def trained_tasks(task: Training) -> list[str]:
    """The names of the tasks that a configuration trains."""
    return [task.first_task, *further_tasks(task)]


@dataclasses.dataclass
class Trainer(config_definitions.TrainerConfig):
    """The loop, its checkpoints and validations."""

    optimizer_config: Optimization = dataclasses.field(default_factory=Optimization)
    train_steps: int = parameter(0, "Steps of the whole run.", minimum=1)
    steps_per_loop: int = parameter(
        1000,
        "Steps of one call of the training loop; logs, TensorBoard's too, and checkpoints come "
        "between two calls.",
        minimum=1,
    )
    checkpoint_interval: int = parameter(1000, "Steps between two checkpoints.", minimum=1)
    max_to_keep: int = parameter(5, "How many of the latest checkpoints are kept.", minimum=1)
    validation_interval: int = parameter(1000, "Steps between two validations.", minimum=1)
    validation_steps: int = parameter(-1, "Batches of a validation; -1: all.", minimum=-1)
    best_checkpoint_eval_metric: str = parameter(
        "",
        "Validation metric that selects the checkpoint in `best/`. Empty: the first available of "
        "STS, P@1, NLI accuracy and the cosine to a teacher. A loss is best at its lowest.",
    )
    early_stopping_patience: int = parameter(
        0,
        "Training ends after this many validations in a row without a new best, in mode "
        "`train_and_eval`; 0: never.",
        minimum=0,
    )
    average_decay: float = parameter(
        0.0,
        "Decay of a moving average of the weights, which is validated and exported; 0: no average.",
        **_FRACTION,
    )
    average_every: int = parameter(10, "The average is updated once in this many steps.", minimum=1)

    def misfits(self) -> Misfits:
        """A validation of no batches, and intervals that do not fit."""
        if self.validation_steps == 0:
            yield "validation_steps", "-1 for all batches, or from 1"
        # Before its first update the average is the initial weights.
        least = min(self.train_steps, self.validation_interval, self.checkpoint_interval)
        if self.average_decay and self.average_every > least:
            yield "average_every", f"at most the steps to a checkpoint or validation, {least}"


@dataclasses.dataclass
class Runtime(config_definitions.RuntimeConfig):
    """Devices, and how training is distributed over them."""

    distribution_strategy: str = parameter(
        "one_device", "How training is distributed.", choices=STRATEGIES
    )
    num_gpus: int = parameter(0, "GPUs of each process; 0: CPU.", minimum=0)
    mixed_precision_dtype: str | None = parameter(
        None,
        "`bfloat16`: layers compute in it. `auto`: they do on processors with instructions for it "
        "(avx512_bf16, amx_bf16), and on no GPU. null: float32.",
        choices=("float32", BFLOAT16, AUTO, None),
    )
    exchange_dtype: str = parameter(
        "float32",
        "What replicas that step together send each other, gradients and sums of vectors: in "
        "`bfloat16` half the bytes.",
        choices=("float32", BFLOAT16),
    )

    def misfits(self) -> Misfits:
        """Several GPUs of a worker of parameter servers."""
        if self.distribution_strategy == PARAMETER_SERVER and self.num_gpus > 1:
            yield "num_gpus", f"0, or 1 for each worker, with {PARAMETER_SERVER}"


@dataclasses.dataclass
class Experiment(config_definitions.ExperimentConfig):
    """All parameters of a run."""

    task: Training = dataclasses.field(default_factory=Training)
    trainer: Trainer = dataclasses.field(default_factory=Trainer)
    runtime: Runtime = dataclasses.field(default_factory=Runtime)

    def misfits(self) -> Misfits:
        """What parameter servers, whose workers step alone, cannot do."""
        if self.runtime.distribution_strategy != PARAMETER_SERVER:
            return
        if self.trainer.average_decay:
            yield "trainer.average_decay", "0 with parameter servers"
        objective = getattr(self.task, "objective", None)
        if getattr(objective, "negatives_across_replicas", False):
            yield "task.objective.negatives_across_replicas", "false with parameter servers"
        for name, further in further_tasks(self.task).items():
            if not further.share:
                accepted = "numbers above 0 with parameter servers, as each task has a worker"
                yield f"task.{name}.share", accepted
