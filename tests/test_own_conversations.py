"""Conversations that are not Reddit's, from files to scores: the models beat the baselines."""

import json
from pathlib import Path

import pytest

PRESET = "model/configs/presets/demo_dan.yaml"
PRETRAINED = Path(__file__).parents[1] / "pretrained" / "conversations-small"
# A quarter of the preset's steps are enough to beat TF-IDF.
STEPS = 400
# Residual: a response scores by the words that it shares with the input, from the first step on.
OVERRIDES = (
    "task.model.response_network.residual=true,"
    "task.word_frequency_records=50000,task.word_cooccurrence_records=50000,"
    "task.model.encoder.averaging.word_dropout=0.2,"
    "task.model.encoder.averaging.bigram_dropout=0.9,"
    f"trainer.train_steps={STEPS},trainer.checkpoint_interval={STEPS},"
    f"trainer.optimizer_config.learning_rate.polynomial.decay_steps={STEPS}"
)
IRC = "ubuntu_irc.jsonl.gz"
IRC_FIELDS = ("--id_field", "message_id", "--parent_field", "in_reply_to", "--text_field", "said")


@pytest.fixture
def conversations(real_data):
    """A function from the name of a file to the file."""

    def find(name):
        source = real_data / "conversations" / name
        if not source.exists():
            pytest.skip("the real data hold no conversations")
        return source

    return find


def scores(evaluation, module, data, results):
    """The scores of a module, then those of the baselines by their names."""
    scored = ("--output", results)
    evaluation("response_ranking", "--module", module, "--data", data, *scored)
    evaluation("baselines", "--response_ranking", data, *scored)
    baselines = (results / "baselines").glob("*/response_ranking.json")
    return read(results / "response_ranking.json"), {
        path.parent.name: read(path) for path in baselines
    }


def read(path):
    return json.loads(path.read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (IRC, IRC_FIELDS),
        (
            "self_dialogue.csv.gz",
            (
                *("--thread_field", "dialogue", "--order_field", "turn", "--text_field", "text"),
                *("--test_fraction", "0.02"),  # 7,000 pairs are enough to be sure
            ),
        ),
    ],
)
def test_the_demos_preset_ranks_the_true_reply_better_than_tf_idf(
    command, evaluation, conversations, tmp_path, name, fields
):
    source, data, module = conversations(name), tmp_path / "pairs", tmp_path / "module"
    command("data_pipeline", "conversations", "--input", source, "--output", data, *fields)
    command(
        *("model", "--experiment", "reddit", "--mode", "train", "--config_file", PRESET),
        *("--model_dir", tmp_path / "run", "--params_override"),
        f"task.train_data.input_path={data}/train-*,{OVERRIDES}",
    )
    command("export", "--model_dir", tmp_path / "run", "--output", module)
    ours, baselines = scores(evaluation, module, data, tmp_path / "results")
    tf_idf = baselines["TF-IDF"]
    assert ours["n"] == tf_idf["n"] > 5000
    # The whole interval is above TF-IDF's.
    assert ours["intervals"]["p_at_1"][0] > tf_idf["intervals"]["p_at_1"][1]


@pytest.mark.slow
def test_the_preset_for_them_ranks_better_than_all_baselines_and_the_pretrained_module(
    command, evaluation, conversations, tmp_path
):
    """As docs/data.md does it."""
    source, data, words = conversations(IRC), tmp_path / "pairs", tmp_path / "vocabulary"
    module = tmp_path / "module"
    command(
        *("data_pipeline", "conversations", "--input", source, "--output", data, *IRC_FIELDS),
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
    ours, others = scores(evaluation, module, data, tmp_path / "results")
    beside = ("--data", data, "--output", tmp_path / "beside")
    evaluation("response_ranking", "--module", PRETRAINED, *beside)
    others["pretrained"] = read(tmp_path / "beside" / "response_ranking.json")
    assert len(others) >= 4
    for name, other in others.items():
        assert ours["n"] == other["n"] > 5000
        assert ours["intervals"]["p_at_1"][0] > other["metrics"]["p_at_1"], name
