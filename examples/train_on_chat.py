"""Trains on messages that name the one they answer, from the raw file to a scored module.

    PYTHONPATH=. python examples/train_on_chat.py 'ubuntu_irc.jsonl.gz' chat/ \
        --fields message_id in_reply_to said

Writes chat/pairs, chat/run, chat/module and chat/results. Needs this project.
"""

import argparse
from collections.abc import Sequence

import data_pipeline
import evaluation
import export
import model

OVERRIDES = (
    # Responses score by the words that they share with the input from the first step on.
    "task.model.response_network.residual=true,"
    "task.word_frequency_records=50000,task.word_cooccurrence_records=50000,"
    "task.model.encoder.averaging.word_dropout=0.2,"
    "task.model.encoder.averaging.bigram_dropout=0.9,trainer.train_steps={0},"
    "trainer.checkpoint_interval={0},trainer.optimizer_config.learning_rate.polynomial.decay_steps=0,"
    "task.train_data.input_path={1}/train-*"
)


def main(argv: Sequence[str] | None = None) -> None:
    """Prints how often the true reply is ranked first among 100."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("messages", help="JSON lines, CSV, TSV or Parquet files, a pattern")
    parser.add_argument("output", help="a new folder")
    parser.add_argument(
        "--fields",
        nargs=3,
        default=("id", "parent_id", "text"),
        help="a message's id, the id of the message that it answers, its text; "
        "default: %(default)s",
    )
    parser.add_argument("--steps", type=int, default=800, help="default: %(default)s")
    given = parser.parse_args(argv)

    options = data_pipeline.ConversationOptions(
        id_field=given.fields[0], parent_field=given.fields[1], text_field=given.fields[2]
    )
    pairs, run, module, results = (
        f"{given.output}/{name}" for name in ("pairs", "run", "module", "results")
    )
    data_pipeline.run_conversations([given.messages], pairs, options=options)
    overrides = OVERRIDES.format(given.steps, pairs)
    config = {"config_files": ["demo_dan"], "params_override": overrides}
    model.train("reddit", model_dir=run, mode="train", **config)
    export.export(run, module)
    encoder = evaluation.load_encoder(module)
    (scored,) = evaluation.evaluate(encoder, "response_ranking", pairs, output=results)
    print(f"the true reply is first among 100: {scored.metrics['p_at_1']:.1%} of {scored.n:,}")


if __name__ == "__main__":
    main()
