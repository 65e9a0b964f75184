"""What `make pretrained` puts into the repository, and what it refuses."""

import hashlib

import pytest

from benchmarks.quality import pretrained
from common.errors import InputError
from common.files import write_json
from export.card import identity, model_card


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Publishes modules of these values of Pearson's r on STS-B dev."""
    added = []
    monkeypatch.setattr(pretrained, "add_scores", lambda *given: added.append(given))

    def run(*, small, full, more_bytes=0):
        rivals = tmp_path / "runs" / "results" / "baselines"
        for row, pearson in (("small", small), ("teacher_nli", full)):
            module = tmp_path / "runs" / "modules" / f"{row}-0"
            (module / identity.FOLDER).mkdir(parents=True)
            teacher = {"task": "teacher", "encoder": {"name": "a teacher"}}
            data = [{"task": "response_selection"}, teacher]
            write_json(
                module / identity.FOLDER / identity.IDENTITY,
                {"project": identity.PROJECT, "training_data": data},
            )
            (module / "saved_model.pb").write_bytes(b"graph" + bytes(more_bytes))
            write_json(module / identity.FOLDER / model_card.SCORES, list(results(pearson)))
        for name, facts in {"Rival": {"pretrained": True}, "TF-IDF": {}}.items():
            for result in results(0.9):
                of_rival = result | {"module": {"path": name} | facts}
                write_json(rivals / name / f"{result['name']}.json", of_rival)
        (rivals / "Rival" / "sts-dev.json").unlink()
        output = tmp_path / "pretrained"
        pretrained.publish(tmp_path / "runs", output)
        scored = [tmp_path / "runs" / "results" / f"{row}-0" for row in ("small", "teacher_nli")]
        assert [given[1] for given in added] == scored
        return output

    return run


def results(pearson):
    for name in dict.fromkeys(name for name, _ in pretrained.SHOWN):
        metrics = {metric: 0.5 for of, metric in pretrained.SHOWN if of == name}
        if name == "sts-dev":
            metrics = {"pearson": pearson}
        intervals = {metric: [value - 0.1, value + 0.1] for metric, value in metrics.items()}
        task = name.split("-")[0]
        yield {"task": task, "name": name, "n": 1379, "metrics": metrics, "intervals": intervals}


def test_the_module_its_checksums_and_its_page_are_written(publish):
    output = publish(small=0.771, full=0.78)
    graph = output / "conversations-small" / "saved_model.pb"
    assert graph.read_bytes() == b"graph"
    lines = (output / "SHA256SUMS").read_text().splitlines()
    digest = hashlib.sha256(b"graph").hexdigest()
    assert f"{digest}  conversations-small/saved_model.pb" in lines
    assert len(lines) == 3
    page = (output / "README.md").read_text()
    assert "| 0.771 (0.671 to 0.871) " in page
    cells = [line.split("|")[3:-1] for line in page.splitlines() if line.startswith("| STS")]
    assert [cell.strip() for cell in cells[0]] == ["0.500 (0.400 to 0.600)"] * 3
    assert [cell.strip() for cell in cells[1]][1:] == ["0.780 (0.680 to 0.880)", "-"]
    assert "| Rival " in page
    assert "TF-IDF" not in page
    assert "a teacher gives to" in page


@pytest.mark.parametrize(
    ("given", "named"), [({"small": 0.769}, "0.7690"), ({"more_bytes": 20_000_000}, "20,000,000")]
)
def test_a_module_far_below_the_full_one_or_too_large_is_refused(publish, tmp_path, given, named):
    with pytest.raises(InputError, match=named):
        publish(**{"small": 0.78, "full": 0.78} | given)
    assert not (tmp_path / "pretrained").exists()
