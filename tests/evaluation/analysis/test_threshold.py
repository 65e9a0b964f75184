"""The threshold that labelled pairs give."""

import re

import evaluation


def test_the_threshold_divides_the_pairs(write_text, run, fails, word_encoder, monkeypatch):
    monkeypatch.setattr(evaluation, "load_encoder", lambda _: word_encoder, raising=False)
    rows = ["where is it,where is it,1", "where is it,where is that,1", "where is it,red house,0"]
    header = "question,match,label"
    command = ["threshold", "--module", "module", "--columns", *header.split(","), "--data"]
    printed = run(*command, write_text("labelled.csv", "\n".join([header, *rows, ""])))
    (threshold,) = re.findall(r"^threshold (\S+)$", printed, re.MULTILINE)
    assert 0 < float(threshold) < 1
    assert "f1 1.000" in printed
    for label in ("2", "0"):
        wrong = [header, *rows[:2], f"a,b,{label}", "c,d,3"]
        assert "wrong.csv" in fails(*command, write_text("wrong.csv", "\n".join([*wrong, ""])))
