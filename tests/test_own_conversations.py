"""Conversations that are not Reddit's, from files to scores: the model beats TF-IDF."""

import json

import pytest

PRESET = "model/configs/presets/demo_dan.yaml"
# Residual: a response scores by the words that it shares with the input, from the first step on.
OVERRIDES = (
    "task.model.response_network.residual=true,"
    "task.word_frequency_records=50000,task.word_cooccurrence_records=50000,"
    "task.model.encoder.averaging.word_dropout=0.2,"
    "task.model.encoder.averaging.bigram_dropout=0.9"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fields", "steps"),
    [
        (
            "ubuntu_irc.jsonl.gz",
            ("--id_field", "message_id", "--parent_field", "in_reply_to", "--text_field", "said"),
            800,
        ),
        (
            "self_dialogue.csv.gz",
            ("--thread_field", "dialogue", "--order_field", "turn", "--text_field", "text"),
            1600,
        ),
    ],
)
def test_the_demos_preset_ranks_the_true_reply_better_than_tf_idf(
    command, real_data, tmp_path, name, fields, steps
):
    source = real_data / "conversations" / name
    if not source.exists():
        pytest.skip("the real data hold no conversations")
    data, module, results = tmp_path / "pairs", tmp_path / "module", tmp_path / "results"
    command("data_pipeline", "conversations", "--input", source, "--output", data, *fields)
    length = ",".join(
        f"trainer.{name}={steps}"
        for name in (
            *("train_steps", "checkpoint_interval"),
            "optimizer_config.learning_rate.polynomial.decay_steps",
        )
    )
    command(
        *("model", "--experiment", "reddit", "--mode", "train", "--config_file", PRESET),
        *("--model_dir", tmp_path / "run", "--params_override"),
        f"task.train_data.input_path={data}/train-*,{length},{OVERRIDES}",
    )
    command("export", "--model_dir", tmp_path / "run", "--output", module)
    scored = ("--output", results)
    command("evaluation", "response_ranking", "--module", module, "--data", data, *scored)
    command("evaluation", "baselines", "--response_ranking", data, *scored)
    ours, tf_idf = (
        json.loads((results / path / "response_ranking.json").read_text())
        for path in ("", "baselines/TF-IDF")
    )
    assert ours["n"] == tf_idf["n"] > 5000
    # The whole interval is above TF-IDF's.
    assert ours["intervals"]["p_at_1"][0] > tf_idf["intervals"]["p_at_1"][1]
