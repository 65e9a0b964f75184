"""What a module says of itself: identity, model card, scores."""

import html
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
import tensorflow as tf
import yaml
from markdown_it import MarkdownIt

from common.errors import InputError
from export.__main__ import main
from export.card import identity, model_card

REQUIREMENTS = Path(__file__).parents[2] / "requirements.txt"
OUTPUT = {"bytes": 0, "crc32c": "00000000", "records": 12}


def result(fingerprint, **changes):
    return {
        "task": "sts",
        "name": "sts-test",
        "n": 1379,
        "metrics": {"spearman": 0.5, "pearson": 0.684, "extra": None},
        "intervals": {"pearson": [0.65, 0.7123]},
        "data": {"sha256": "abcdef0123456789"},
        "module": {"fingerprint": fingerprint},
        "settings": {"seed": 3},
    } | changes


@pytest.fixture
def about(shared):
    """The identity of the shared module, to be changed."""
    return identity.read(shared / "module")


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def put(results, found):
    (results / f"{found['name']}.json").write_text(json.dumps(found))


def limits(about):
    return model_card.render(about, [], size=1).partition("## Limits")[2]


def test_its_identity_is_inside_and_the_card_says_how_to_load_it(shared, about):
    found = tf.saved_model.experimental.read_fingerprint(str(shared / "module"))
    assert f"{found.saved_model_checksum:016x}" in about["fingerprint"]
    assert about["fingerprint"].endswith(f"{found.checkpoint_hash:016x}")
    assert about["version"] == identity.version()
    assert (about["max_tokens"], about["dim"], about["encoder"]) == (8, 7, "averaging")
    inside = shared / "module" / "assets.extra" / "params.yaml"
    assert inside.read_text() == (shared / "run" / "params.yaml").read_text()
    card = (shared / "module" / "README.md").read_text()
    pins = dict(re.findall(r"^([\w-]+)==(\S+)$", REQUIREMENTS.read_text(), re.MULTILINE))
    (line,) = re.findall(r"pip install (.*)", card)
    assert line.split() == [f"{name}=={pins[name]}" for name in identity.NEEDED]
    assert about["fingerprint"] in card
    assert all(f"`{name}`" in card for name in about["signatures"])


@pytest.fixture
def training_data(about, tmp_path):
    """What is known of training data by folder, beside which their manifest and card lie."""
    beside = {
        "reddit": ({}, {"source": {"name": "Reddit", "message": "message"}}),
        "tickets": ({}, {"source": {"name": "tickets.csv", "message": "message"}}),
        "sample": ({"synthetic": True}, None),
        "teacher": ({"encoder": {"name": "strong", "fingerprint": "f1"}}, None),
    }
    for name, (known, card) in beside.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train-0.tfrecord").touch()
        completed = {"outputs": {"train-0.tfrecord": OUTPUT, "test-0.tfrecord": OUTPUT}}
        (folder / "COMPLETED").write_text(json.dumps(completed | known))
        if card:
            (folder / "data_card.json").write_text(json.dumps(card))

    def find(*names, **further):
        def data(*folders):
            files = ",".join(f"{tmp_path}/{folder}/train-*" for folder in folders)
            return {"train_data": {"input_path": files}}

        task = data(*names) | {name: data(folder) for name, folder in further.items()}
        about["training_data"] = list(identity.training_data(task, ["response_selection"]))
        return about["training_data"]

    return find


def test_training_data_are_told_by_what_lies_beside_them(training_data, tmp_path):
    known, nli, teacher = training_data("reddit", nli="gone", teacher="teacher")
    assert known == {
        "task": "response_selection",
        "files": f"{tmp_path}/reddit/train-*",
        "manifest": {"train-0.tfrecord": OUTPUT},
        "source": "Reddit",
    }
    assert nli == {"task": "nli", "files": f"{tmp_path}/gone/train-*", "manifest": None}
    assert (teacher["task"], teacher["encoder"]["name"]) == ("teacher", "strong")


def test_the_limits_name_what_a_model_was_trained_on(about, training_data):
    assert "replies" in limits(about)
    training_data("tickets", "reddit")
    assert "tickets.csv, Reddit" in limits(about)
    training_data("sample")
    card = model_card.render(about, [], size=1)
    assert "synthetic" in card
    assert "Reddit" not in card
    about |= {"tasks": ["nli"], "training_data": [], "encoder": "registered_elsewhere"}
    assert "replies" not in limits(about)


HOSTILE = "a|b `c` <script>x()</script> [d](javascript:e) *f* _g_ &lt; h\n\n# i"


def shown(card):
    """The tags of the card as Markdown shows it, and its text."""
    page = MarkdownIt("commonmark").enable("table").render(card)
    return Counter(re.findall(r"<(\w+)", page)), html.unescape(re.sub("<[^>]*>", "", page))


def test_names_are_shown_as_they_are(about):
    def card(name):
        found = result("", name=name, notes=[f"of {name}"], settings={"data": name})
        data = {"task": name, "files": name, "manifest": {}, "encoder": {"name": name}}
        changed = about | {"begun_from": name, "machine": name, "encoder": name}
        changed |= {"training_data": [data | {"source": name}]}
        return shown(model_card.render(changed, [found | {"data": "ab"}], size=1))

    plain, hostile = card("zqx"), card(HOSTILE)
    assert plain[0] == hostile[0]
    assert plain[1].count("zqx") == 12
    assert hostile[1] == plain[1].replace("zqx", " ".join(HOSTILE.split()))


def test_the_data_of_the_run_that_it_began_from_count(shared, about, tmp_path):
    earlier, again = tmp_path / "reddit", tmp_path / "again"
    for folder, head, files in (
        (earlier, "response_selection", "pairs/train-*"),
        (again, "nli", "nli/nli-*"),
    ):
        shutil.copytree(shared / "run", folder)
        params = yaml.safe_load((folder / "params.yaml").read_text())
        params["task"] |= {"train_data": {"input_path": files}, "init_checkpoint": str(earlier)}
        params["task"]["model"]["heads"] = [head]
        (folder / "params.yaml").write_text(yaml.safe_dump(params))
    found = identity.describe(again, f"{again}/ckpt-7")
    assert (found["step"], found["begun_from"]) == (7, str(earlier))
    assert [(data["task"], data["files"]) for data in found["training_data"]] == [
        ("nli", "nli/nli-*"),
        ("response_selection", "pairs/train-*"),  # once: that its own start is itself ends
    ]
    assert f"`{earlier}`" in model_card.render(about | found, [], size=1)
    shutil.rmtree(earlier)
    found = identity.describe(again, f"{again}/ckpt-7")
    assert [data["files"] for data in found["training_data"]] == ["nli/nli-*"]


def test_scores_are_put_into_a_module(shared, about, results, tmp_path, capsys):
    module = Path(shutil.copytree(shared / "module", tmp_path / "module"))
    put(results, result(about["fingerprint"], notes=["a remark on F1"]))
    main(["card", "--module", str(module), "--results", str(results)])
    assert "1 result written to" in capsys.readouterr().out
    card = (module / "README.md").read_text()
    for shown in ("abcdef012345", "0.6840", "0.6500 to 0.7123", "1,379", "seed 3", "remark on F1"):
        assert shown in card
    assert "| extra |" not in card
    assert model_card.scores(module)[0]["metrics"]["pearson"] == 0.684
    put(results, result(about["fingerprint"], name="sts-dev"))
    assert model_card.add_scores(module, results) == 2
    assert len(model_card.scores(module)) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"module", "results"}


def test_only_scores_of_the_module_itself_are_taken(results):
    fingerprint = "f" * 80
    put(results, result("", name="search_engine", module=None))
    put(results, result(fingerprint, name="contamination", task="contamination"))
    put(results, result(fingerprint, name="sts-test-tuned", system="module_tuned"))
    with pytest.raises(InputError, match="results"):
        model_card.read_scores(results, fingerprint=fingerprint)
    put(results, result(fingerprint, system="module"))
    (found,) = model_card.read_scores(results, fingerprint=fingerprint)
    assert found["name"] == "sts-test"
    with pytest.raises(InputError, match="another module"):
        model_card.read_scores(results, fingerprint="e" * 64 + fingerprint[-16:])


def test_wrong_results_and_modules_are_refused(shared, results, tmp_path):
    before = (shared / "module" / "README.md").read_bytes()
    put(results, {"name": "x"})
    with pytest.raises(InputError, match="x"):
        model_card.add_scores(shared / "module", results)
    assert (shared / "module" / "README.md").read_bytes() == before
    (tmp_path / "another" / "assets.extra").mkdir(parents=True)
    (tmp_path / "another" / "assets.extra" / "identity.json").write_text('{"project": "x"}')
    for folder in (tmp_path / "nowhere", results, tmp_path / "another"):
        with pytest.raises(SystemExit, match="not written by `python -m export`"):
            main(["card", "--module", str(folder), "--results", str(results)])
