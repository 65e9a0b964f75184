import numpy as np
import pytest

from common.errors import InputError
from evaluation.data import cqa_files
from evaluation.metrics import classification
from evaluation.tasks import cqa, evaluate

LABELS = ["Irrelevant", "Relevant", "Irrelevant", "PerfectMatch"]


def rows(prefix, texts):
    return [
        (f"{prefix}1", "red house", "", f"{prefix}1_R{i}", i, label, text)
        for i, (label, text) in enumerate(zip(LABELS, texts, strict=True), start=1)
    ]


@pytest.fixture
def encoder(fake_encoder):
    """Cosines with "red house" that the texts name in hundredths."""
    vectors = {str(c): [c / 100, np.sqrt(1 - (c / 100) ** 2)] for c in range(0, 101, 10)}
    return fake_encoder(vectors | {"red house": [1.0, 0.0]})


def result_of(path, encoder):
    (source,) = cqa_files.find(path)
    return cqa.evaluate(encoder, cqa_files.read(source))


def test_threshold_by_hand(xml_file, encoder):
    # By score: 90 yes, 70 no, 60 yes, 20 no. From 60 on: P 2/3, R 1, F1 0.8, the highest.
    dev = result_of(xml_file("dev.xml", rows("Q", ["70", "60", "20", "90"])), encoder)
    chosen = cqa.thresholds(dev)
    assert chosen["module"] == pytest.approx(0.4, abs=1e-6)  # between 0.2 and 0.6
    assert chosen["ceiling"] == 0.5
    # The search engine's order no, yes, no, yes, with scores 1, 1/2, 1/3, 1/4: all are a yes.
    assert chosen["search_engine"] == 1 / 4


def test_labels_at_a_threshold_of_other_data(xml_file, encoder):
    dev = result_of(xml_file("dev.xml", rows("Q", ["70", "60", "20", "90"])), encoder)
    test = result_of(xml_file("test.xml", rows("T", ["50", "30", "10", "80"])), encoder)
    found = cqa.classified(test, cqa.thresholds(dev), dev=dev.name)
    # Yes to 50 (wrong) and 80 (right), no to 30 (wrong) and 10 (right).
    expected = {"precision": 0.5, "recall": 0.5, "f1": 0.5, "accuracy": 0.5}
    assert {name: found.metrics[name] for name in expected} == expected
    assert found.metrics["map"] == test.metrics["map"]
    assert found.baselines["ceiling"]["f1"] == 1.0
    assert found.baselines["search_engine"]["recall"] == 1.0  # from the threshold on
    assert found.settings["threshold"] == pytest.approx(0.4, abs=1e-6)
    assert any("chosen by F1 on cqa-dev" in note for note in found.notes)
    (note,) = cqa.classified(dev, cqa.thresholds(dev), dev=dev.name).notes
    assert "optimistic" in note


def test_the_scorers_labels_to_the_last_printed_digit(real_data):
    folder = real_data / "semeval_cqa"
    name = "SemEval2016-Task3-CQA-QL-dev.xml.subtaskB"
    predicted, relevant = (
        np.array([line.endswith("\ttrue") for line in path.read_text().splitlines()])
        for path in (folder / "2016_dev" / f"{name}.{end}" for end in ("pred", "relevancy"))
    )
    found = classification.from_counts(classification.label_counts(predicted, relevant))
    printed = (folder / "docs" / "random_baselines_MAP.txt").read_text()
    section = printed[printed.index("dev.xml.subtaskB.pred") :]
    for label, figure in (("Acc", "accuracy"), ("P  ", "precision"), ("R  ", "recall")):
        assert f"{label} = {found[figure]:.4f}" in section
    assert f"F1  = {found['f1']:.4f}" in section


def test_a_dev_file_given_later_is_not_ignored(xml_file, encoder, tmp_path):
    path = xml_file("cqa/qs.xml", rows("Q", ["70", "60", "20", "90"]))
    encoder.provenance = lambda: {"path": "m", "fingerprint": "1"}
    output = tmp_path / "out"
    assert "f1" not in evaluate(encoder, "cqa", path.parent, output=output)[0].metrics
    xml_file("cqa/dev.xml", rows("Q", ["70", "60", "20", "90"]))
    with pytest.raises(InputError, match=r"cqa-qs\.json"):
        evaluate(encoder, "cqa", path.parent, output=output)
    found = evaluate(encoder, "cqa", str(path.parent), output=output, again=True)
    assert all("f1" in one.metrics for one in found)
