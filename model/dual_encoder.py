"""The input-response model (Yang et al. 2018, section 2.2, figure 3)."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf
import tf_keras

from model.configs import parsing, schema
from model.layers import encoders, nli_head
from model.layers.dropout import random_state
from model.layers.networks import ContextNetwork, ResponseNetwork
from model.losses import Encoded, in_batch_softmax
from model.text import WORDS
from model.text.preprocessing import TextToIds, below, has_words

_AT_ONCE = 128
"""Sentences of a batch of `encode`."""

Sentences: TypeAlias = tf.Tensor | Mapping[str, tf.Tensor]
"""String [batch], or the ids that the model's `text` makes of them."""

_WITH_LAYERS = (schema.RESPONSE_SELECTION, schema.NLI)


class Compared(NamedTuple):
    """Both sides of a batch of sentence pairs, of unit length, float32 [batch, embedding_dim]."""

    premises: tf.Tensor
    hypotheses: tf.Tensor
    logits: tf.Tensor
    """Of each member, in the order of `tfrecord.LABELS`: float32 [batch, members, 3]."""


class DualEncoder(tf_keras.Model):
    """One encoder for both sides; the response goes on through a feed-forward network.

    For natural language inference (NLI) the same encoder feeds a classifier (figure 5).

        model = build("laptop_dan")
        model.compile(optimizer="adagrad")
        model.fit(pairs.batch(128))  # a tf.data.Dataset of (input, response), strings
        embeddings = model.encode(["How old are you?"])

    `fit` trains with the paper's loss, as `python -m model` does by default; the other objectives
    and NLI need the command.

    `text` makes ids of strings, and `encoder` embeddings of ids. The other layers are for the tasks
    of `config.heads`: response selection, also with the messages before the input, and NLI.

    Raises:
      InputError: if the vocabulary is none.
    """

    def __init__(self, config: schema.DualEncoder, *, name: str = "dual_encoder"):
        super().__init__(name=name)
        self.config = config
        # Not tracked: it has no variables, and checkpoints hold the trained layers alone.
        object.__setattr__(self, "text", TextToIds(**config.text.as_dict()))
        self.encoder = encoders.build(config.encoder, self.text.table_sizes)
        self.encoder.use_text(self.text)
        dim = self.encoder.embedding_dim
        if schema.RESPONSE_SELECTION in config.heads:
            self.response_network = ResponseNetwork(dim, **config.response_network.as_dict())
            if config.context_turns:
                self.context_network = ContextNetwork(dim)
        if schema.NLI in config.heads:
            self.nli_head = nli_head.NliHead(**config.nli.as_dict())
        self._log_score_scale = None
        if config.learned_score_scale:
            # The logarithm, since a scale below zero would prefer the wrong responses.
            self._log_score_scale = self.add_weight(
                name="log_score_scale",
                shape=(),
                dtype=tf.float32,
                initializer=tf_keras.initializers.Constant(math.log(config.score_scale)),
                experimental_autocast=False,  # steps of training are lost in bfloat16's 8 bits
            )

    @property
    def heads(self) -> tuple[str, ...]:
        """The tasks that the model has layers of its own for."""
        return tuple(head for head in _WITH_LAYERS if head in self.config.heads)

    @property
    def reads_context(self) -> bool:
        """Whether the messages before an input can join it."""
        return hasattr(self, "context_network")

    @property
    def score_scale(self) -> tf.Tensor:
        """What the dot products are multiplied by: float32 scalar."""
        if self._log_score_scale is None:
            return tf.constant(self.config.score_scale, tf.float32)
        return tf.exp(self._log_score_scale)

    def call(self, pairs: dict[str, Sentences], training: bool = False) -> Encoded:
        """Encodes `input` and `response`, strings or ids, and `context` if it is there."""
        has_context = self.reads_context and "context" in pairs
        names = ("input", "response", "context") if has_context else ("input", "response")
        ids = [self._ids(pairs[name]) for name in names]
        if self.encoder.encodes_together:
            embeddings = self.encode_inputs(below(ids), training=training)
            parts = tf.split(embeddings, [tf.shape(each[WORDS])[0] for each in ids])
        else:
            parts = [self.encode_inputs(each, training=training) for each in ids]
        inputs, responses, *contexts = parts
        for context in contexts:
            inputs = self.context_network(inputs, context, has_words(ids[-1]))
        return Encoded(inputs, self.response_network(responses), self.score_scale)

    def encode_inputs(self, sentences: Sentences, training: bool = False) -> tf.Tensor:
        """The sentence embedding u, of unit length: float32 [batch, embedding_dim]."""
        return self.encoder(self._ids(sentences), training=training)["default"]

    def _ids(self, sentences: Sentences) -> Mapping[str, tf.Tensor]:
        return sentences if isinstance(sentences, Mapping) else self.text(sentences)

    def encode_responses(self, sentences: Sentences, training: bool = False) -> tf.Tensor:
        """v', the response as the score sees it: float32 [batch, embedding_dim]."""
        return self.response_network(self.encode_inputs(sentences, training=training))

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Embeds sentences: float32 [sentences, embedding_dim], each row of unit length.

        Raises:
          ValueError: if `sentences` is one string.
        """
        if isinstance(sentences, str | bytes):
            raise ValueError(f"sentences: {sentences!r}; accepted: a list of strings")
        texts = list(sentences)
        starts = range(0, max(len(texts), 1), _AT_ONCE)
        batches = [tf.constant(texts[at : at + _AT_ONCE], tf.string) for at in starts]
        return np.concatenate([self._embed(batch).numpy() for batch in batches])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def _embed(self, sentences: tf.Tensor) -> tf.Tensor:
        return self.encode_inputs(sentences)

    def compare(
        self,
        premises: dict[str, tf.Tensor],
        hypotheses: dict[str, tf.Tensor],
        training: bool = False,
    ) -> Compared:
        """Embeds and classifies sentence pairs, given as ids."""
        vectors = self.encoder.word_vectors if self.nli_head.reads_words else None
        first, second = (
            nli_head.side(self.encode_inputs(ids, training), ids[WORDS], vectors)
            for ids in (premises, hypotheses)
        )
        logits = self.nli_head(first, second, training=training)
        return Compared(first.embeddings, second.embeddings, logits)

    def train_step(self, data: tuple[Sentences, Sentences]) -> dict[str, tf.Tensor]:
        """Trains on a batch of (input, response), strings or ids."""
        return super().train_step((dict(zip(("input", "response"), data, strict=True)),))

    def test_step(self, data: tuple[Sentences, Sentences]) -> dict[str, tf.Tensor]:
        """The loss on a batch of (input, response), strings or ids."""
        return super().test_step((dict(zip(("input", "response"), data, strict=True)),))

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> tf.Tensor:
        """The paper's loss (section 2.2) of what `call` returned: float32 scalar."""
        loss = in_batch_softmax(y_pred, schema.Objective()).loss
        # Keras averages it over batches, and divides it by the number of replicas.
        return self.compiled_loss(None, y_pred.inputs, regularization_losses=[loss])

    def get_config(self) -> dict[str, Any]:
        """Raises NotImplementedError: a `.keras` file would have no layers to load."""
        raise NotImplementedError(".keras files are not supported; save_weights is")

    def make_variables(self) -> None:
        """Makes the variables by a call on one sentence."""
        ids = self.text(tf.constant(["any text"]))
        if not self.heads:
            self.encode_inputs(ids)
        if schema.RESPONSE_SELECTION in self.heads:
            self({"input": ids, "response": ids, "context": ids})
        if schema.NLI in self.heads:
            self.compare(ids, ids)
            self.nli_head.random_state = random_state(self.nli_head)


def build(config: schema.DualEncoder | str | Path, *, seed: int = 0) -> DualEncoder:
    """A new model, its variables made.

    Args:
      config: the configuration, the name of a preset such as `laptop_dan`, or a YAML file with a
        section `task.model`. A file that leaves out `heads` gets those of its experiment: NLI's if
        it has a section `task.model.nli`, and NLI's alone if it has no `response_network` beside it
        and no `task.nli`.
      seed: draws the initial weights.

    Raises:
      InputError: if there is no such preset or file, or a parameter in it is refused.
    """
    if not isinstance(config, schema.DualEncoder):
        config = parsing.parse_model(str(config))
    tf_keras.utils.set_random_seed(seed)
    model = DualEncoder(config)
    model.make_variables()
    return model
