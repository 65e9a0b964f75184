"""Conversations that are not Reddit's, from a file to scores, as docs/data.md does it."""

import json
from pathlib import Path

import pytest

PRETRAINED = Path(__file__).parents[1] / "pretrained" / "conversations-small"


@pytest.mark.slow
def test_the_preset_for_them_ranks_better_than_all_baselines_and_the_pretrained_module(
    command, real_data, tmp_path
):
    source = real_data / "conversations" / "ubuntu_irc.jsonl.gz"
    if not source.exists():
        pytest.skip("the real data hold no conversations")
    names = ("pairs", "words", "vectors", "run", "module")
    data, words, vectors, run, module = (tmp_path / name for name in names)
    command(
        *("data_pipeline", "conversations", "--input", source, "--output", data),
        *("--id_field", "message_id", "--parent_field", "in_reply_to", "--text_field", "said"),
        *("--validation_fraction", "0.05"),
    )
    command("data_pipeline", "vocabulary", "--input", f"{data}/train-*", "--output", words)
    of_words = ("--texts", words / "words.tsv", "--output", vectors)
    command("model", "teacher", "--encoder", PRETRAINED, *of_words)
    command(
        *("model", "--experiment", "reddit", "--mode", "train_and_eval", "--model_dir", run),
        *("--config_file", "own_conversations", "--params_override"),
        f"task.train_data.input_path={data}/train-*,task.model.text.vocabulary={words},"
        f"task.validation_data.input_path={data}/validation-*,task.word_vectors={vectors},"
        "task.word_cooccurrence_records=0",
    )
    command("export", "--model_dir", run, "--output", module)
    results = tmp_path / "results"
    command("evaluation", "baselines", "--response_ranking", data, "--output", results)
    for name, scored in (("ours", module), ("baselines/pretrained", PRETRAINED)):
        given = ("--module", scored, "--data", data, "--output", results / name)
        command("evaluation", "response_ranking", *given)
    ours = json.loads((results / "ours" / "response_ranking.json").read_text())
    others = list((results / "baselines").glob("*/response_ranking.json"))
    assert len(others) >= 4
    for path in others:
        other = json.loads(path.read_text())
        assert ours["n"] == other["n"] > 5000
        assert ours["intervals"]["p_at_1"][0] > other["metrics"]["p_at_1"], path
