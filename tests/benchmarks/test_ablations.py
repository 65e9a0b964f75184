"""The page of ablations."""

import json
import sys
from pathlib import Path

from benchmarks import runs
from benchmarks.quality import ablations
from benchmarks.quality.rows import Table

ITEMS = {"p_at_1": 100, "p_at_10": 100, "nli_accuracy": 900, "sts_dev_pearson": 1500}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_an_ablation_shows_its_change_from_the_mean_of_the_seeds():
    ablation = Table().ablations["reddit"]
    found = {
        change: dict.fromkeys(ablation.figures, value)
        for change, value in {"as it stands": 0.50, "seed 1": 0.52, "no margin": 0.45}.items()
    }
    *_, changed, ends = ablations.table(ablation, found, ITEMS).splitlines()
    # By hand: the mean of the seeds is 0.51.
    assert cells(changed) == ["no margin", *["0.450 (-0.060)"] * 3]
    # Wilson's interval of 50 of 100; tanh(artanh(0.5) ± 1.96 / sqrt(1497)).
    assert cells(ends)[1:] == ["[0.404, 0.596]", "[0.404, 0.596]", "[0.461, 0.537]"]


def test_the_page_has_the_last_validation_of_every_run(tmp_path, monkeypatch):
    for name, outputs in (
        ("pairs", {"validation-0": 60, "validation-1": 40, "train-0": 7}),
        ("nli/dev", {"nli-0": 997, "dead_letters": 3}),
    ):
        (tmp_path / name).mkdir(parents=True)
        content = {"outputs": {one: {"records": count} for one, count in outputs.items()}}
        (tmp_path / name / "COMPLETED").write_text(json.dumps(content))
    assert ablations.sizes(tmp_path) == ITEMS
    asked = []
    monkeypatch.setattr(runs, "last", lambda at: asked.append(at) or dict.fromkeys(ITEMS, 0.5))
    output = tmp_path / "page.md"
    monkeypatch.setattr(sys, "argv", ["x", "--runs", str(tmp_path), "--output", str(output)])
    ablations.main()
    text = output.read_text()
    assert "## Response selection: 1,024,000 pairs a row\n\n|" in text
    assert text.count("0.500 (+0.000)") == 3 * 16 + 4 * 7 + 3 * 7
    found = {path.relative_to(tmp_path / "models") for path in asked}
    assert Path("ablations/reddit/score_scale_10-0/validation") in found
    assert Path("reddit_nli-2/validation") in found
