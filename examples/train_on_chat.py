"""Trains on messages that name the one they answer, from the raw file to a scored module.

    PYTHONPATH=. python examples/train_on_chat.py 'ubuntu_irc.jsonl.gz' chat/ \
        --fields message_id in_reply_to said

Writes chat/pairs, chat/vocabulary, chat/run, chat/module and chat/results. Needs this project.
"""

import argparse
from collections.abc import Sequence

import data_pipeline
import evaluation
import export
import model


def main(argv: Sequence[str] | None = None) -> None:
    """Prints how often the true reply is ranked first among 100, or all if there are fewer."""
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
    parser.add_argument("--steps", type=int, default=400, help="default: %(default)s")
    given = parser.parse_args(argv)

    pairs, words, run, module, results = (
        f"{given.output}/{name}" for name in ("pairs", "vocabulary", "run", "module", "results")
    )
    made = data_pipeline.make_pairs(
        data_pipeline.ConversationOptions(
            input=(given.messages,),
            output=pairs,
            id_field=given.fields[0],
            parent_field=given.fields[1],
            text_field=given.fields[2],
        )
    )
    candidates = min(100, made.statistics["test_pairs"])
    if candidates < 2:
        raise SystemExit(f"{given.messages} has too few messages: {candidates} test pairs")
    of_words = data_pipeline.VocabularyOptions(input=(f"{pairs}/train-*",), output=words)
    data_pipeline.count_vocabulary(of_words)
    overrides = (
        f"task.train_data.input_path={pairs}/train-*,task.model.text.vocabulary={words},"
        f"trainer.train_steps={given.steps}"
    )
    config = {"config_files": ["own_conversations"], "params_override": overrides}
    model.train("reddit", model_dir=run, mode="train", **config)
    export.export(run, module)
    options = {"output": results, "candidates": candidates}
    encoder = evaluation.load_encoder(module)
    (scored,) = evaluation.evaluate(encoder, "response_ranking", pairs, **options)
    first = f"the true reply is first among {candidates}"
    print(f"{first}: {scored.metrics['p_at_1']:.1%} of {scored.n:,}")


if __name__ == "__main__":
    main()
