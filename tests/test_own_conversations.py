"""Conversations that are not Reddit's, from files to scores: the models beat the baselines."""

import json

import pytest

PRESET = "model/configs/presets/demo_dan.yaml"
PRETRAINED = "pretrained/conversations-small"
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


@pytest.mark.slow
def test_the_preset_for_them_ranks_better_than_all_baselines_and_the_pretrained_module(
    command, real_data, tmp_path
):
    """As docs/data.md does it."""
    source = real_data / "conversations" / "ubuntu_irc.jsonl.gz"
    if not source.exists():
        pytest.skip("the real data hold no conversations")
    data, words, module = tmp_path / "pairs", tmp_path / "vocabulary", tmp_path / "module"
    command(
        *("data_pipeline", "conversations", "--input", source, "--output", data),
        *("--id_field", "message_id", "--parent_field", "in_reply_to", "--text_field", "said"),
        *("--validation_fraction", "0.05"),
    )
    command("data_pipeline", "vocabulary", "--input", f"{data}/train-*", "--output", words)
    command(
        *("model", "--experiment", "reddit", "--mode", "train_and_eval"),
        *("--model_dir", tmp_path / "run", "--config_file", "own_conversations"),
        "--params_override",
        f"task.train_data.input_path={data}/train-*,task.model.text.vocabulary={words},"
        f"task.validation_data.input_path={data}/validation-*",
    )
    command("export", "--model_dir", tmp_path / "run", "--output", module)
    results = tmp_path / "results"
    for scored, folder in ((module, results), (PRETRAINED, results / "beside")):
        ranking = ("evaluation", "response_ranking", "--module", scored, "--data", data)
        command(*ranking, "--output", folder)
    command("evaluation", "baselines", "--response_ranking", data, "--output", results)
    ours = json.loads((results / "response_ranking.json").read_text())
    others = [path for path in results.rglob("response_ranking.json") if path.parent != results]
    assert len(others) >= 4
    for path in others:
        other = json.loads(path.read_text())
        assert ours["n"] == other["n"] > 5000
        assert ours["intervals"]["p_at_1"][0] > other["metrics"]["p_at_1"], path
