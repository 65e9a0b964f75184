"""What a module says of itself: identity, model card, scores."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import yaml

from export.__main__ import main
from export.card import identity, model_card, scores
from export.module import sts_matrix
from export.module.hub_module import HubModule
from export.saved_model import write
from model.errors import InputError

REQUIREMENTS = Path(__file__).parents[2] / "requirements.txt"


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
def module(shared, tmp_path):
    """A module whose card may be changed."""
    folder = tmp_path / "module"
    return Path(shutil.copytree(shared / "module", folder))


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def put(results, found):
    (results / f"{found['name']}.json").write_text(json.dumps(found))


def test_its_identity_is_inside(shared):
    about = identity.read(shared / "module")
    found = tf.saved_model.experimental.read_fingerprint(str(shared / "module"))
    assert about["fingerprint"].startswith(f"{found.saved_model_checksum:016x}")
    assert about["fingerprint"].endswith(f"{found.checkpoint_hash:016x}")
    assert about["version"] == identity.version() == "0.1.0"
    assert (about["max_tokens"], about["dim"], about["encoder"]) == (8, 7, "averaging")
    inside = shared / "module" / "assets.extra" / "params.yaml"
    assert inside.read_text() == (shared / "run" / "params.yaml").read_text()


def test_the_card_says_how_to_load_it(shared):
    card = (shared / "module" / "README.md").read_text()
    pins = dict(re.findall(r"^([\w-]+)==(\S+)$", REQUIREMENTS.read_text(), re.MULTILINE))
    (line,) = re.findall(r"pip install (.*)", card)
    assert line.split() == [f"{name}=={pins[name]}" for name in identity.NEEDED]
    assert "import tensorflow_text" in card
    for mistake in ("CaseFoldUTF8", "bare string", "jit_compile=True", "TFSMLayer", "Adam"):
        assert re.search(rf"^\| .*{mistake}.* \|$", card, re.MULTILINE), mistake
    assert "| longest text | 8 tokens" in card
    assert identity.read(shared / "module")["fingerprint"] in card
    assert "`similarity` | `sentences1`: string [batch]; `sentences2`: string [batch] |" in card
    assert "None yet." in card
    for heading in ("## Limits", "## Memory and time", "## Trained on"):
        assert heading in card


def test_checksums_of_the_training_files_come_from_their_manifest(shared, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "train-0.tfrecord").write_text("")
    (data / "test-0.tfrecord").write_text("")
    outputs = {
        "train-0.tfrecord": {"bytes": 0, "crc32c": "00000000", "records": 12},
        "test-0.tfrecord": {"bytes": 0, "crc32c": "00000000", "records": 1},
    }
    (data / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    params = yaml.safe_load((shared / "run" / "params.yaml").read_text())
    params["task"]["train_data"] = {"input_path": f"{data}/train-*"}
    params["task"]["nli"] = {"train_data": {"input_path": f"{tmp_path}/gone/nli-*"}}
    found = list(identity.training_data(params["task"], ["response_selection", "nli"]))
    assert found == [
        {
            "task": "response_selection",
            "files": f"{data}/train-*",
            "manifest": {"train-0.tfrecord": outputs["train-0.tfrecord"]},
        },
        {"task": "nli", "files": f"{tmp_path}/gone/nli-*", "manifest": None},
    ]


def test_the_encoder_of_a_teacher_is_named(tmp_path):
    data = tmp_path / "teacher"
    data.mkdir()
    (data / "train-0.tfrecord").write_text("")
    output = {"bytes": 0, "crc32c": "00000000", "records": 12}
    encoder = {"name": "strong", "fingerprint": "f1"}
    completed = {"outputs": {"train-0.tfrecord": output}, "encoder": encoder}
    (data / "COMPLETED").write_text(json.dumps(completed))
    task = {"teacher": {"train_data": {"input_path": f"{data}/train-*"}}}
    assert list(identity.training_data(task, ["response_selection", "teacher"])) == [
        {
            "task": "teacher",
            "files": f"{data}/train-*",
            "manifest": {"train-0.tfrecord": output},
            "encoder": encoder,
        }
    ]


def test_a_synthetic_sample_is_not_called_reddit(shared, tmp_path):
    about = identity.read(shared / "module")
    output = {"bytes": 0, "crc32c": "00000000", "records": 12}
    (tmp_path / "train-0.tfrecord").write_text("")
    completed = {"outputs": {"train-0.tfrecord": output}, "synthetic": True}
    (tmp_path / "COMPLETED").write_text(json.dumps(completed))
    task = {"train_data": {"input_path": f"{tmp_path}/train-*"}}
    about["training_data"] = list(identity.training_data(task, ["response_selection"]))
    card = model_card.render(about, [], size=1)
    assert f"`{tmp_path}/train-*`, synthetic sample, 12 pairs in 1 files" in card
    assert "- Trained on a synthetic sample" in card
    assert "Reddit" not in card
    about["training_data"].append({"task": "nli", "files": "nli-*", "manifest": None})
    card = model_card.render(about, [], size=1)
    assert "Reddit" not in card
    assert "The model knows the languages, topics and manners of its training data" in card


def test_a_model_that_learned_no_replies_does_not_say_so(shared):
    about = identity.read(shared / "module")
    assert "Texts that get similar replies have" in model_card.render(about, [], size=1)
    about |= {"tasks": ["nli"], "training_data": [], "encoder": "registered_elsewhere"}
    card = model_card.render(about, [], size=1)
    assert "Texts that mean the same have similar" in card
    assert "replies" not in card.partition("## Limits")[2]
    assert "(ids to a dict: `default`)" in card


def test_the_data_of_the_run_that_it_began_from_count(shared, tmp_path):
    earlier, again = tmp_path / "reddit", tmp_path / "again"
    shutil.copytree(shared / "run", earlier)
    params = yaml.safe_load((earlier / "params.yaml").read_text())
    params["task"]["train_data"] = {"input_path": "pairs/train-*"}
    params["task"]["init_checkpoint"] = str(earlier)  # a circle ends
    (earlier / "params.yaml").write_text(yaml.safe_dump(params))
    shutil.copytree(shared / "run", again)
    params["task"]["train_data"] = {"input_path": "nli/nli-*"}
    params["task"]["model"]["heads"] = ["nli"]
    (again / "params.yaml").write_text(yaml.safe_dump(params))
    about = identity.describe(again, f"{again}/ckpt-7")
    assert about["step"] == 7
    assert about["begun_from"] == str(earlier)
    assert [(data["task"], data["files"]) for data in about["training_data"]] == [
        ("nli", "nli/nli-*"),
        ("response_selection", "pairs/train-*"),
    ]
    card = model_card.render(identity.read(shared / "module") | about, [], size=1)
    assert f"| trained for | 7 steps, from the weights of `{earlier}` |" in card
    shutil.rmtree(earlier)
    about = identity.describe(again, f"{again}/ckpt-7")
    assert [data["files"] for data in about["training_data"]] == ["nli/nli-*"]


def test_conversations_of_ones_own_are_named(shared, tmp_path):
    about = identity.read(shared / "module")
    for folder, source in (("tickets", "tickets.csv"), ("dumps", "Reddit")):
        (tmp_path / folder).mkdir()
        card = {"source": {"name": source, "message": "message"}}
        (tmp_path / folder / "data_card.json").write_text(json.dumps(card))
    files = [f"{tmp_path}/{folder}/train-*" for folder in ("tickets", "dumps")]

    def limits(files):
        task = {"train_data": {"input_path": files}}
        about["training_data"] = list(identity.training_data(task, ["response_selection"]))
        return model_card.render(about, [], size=1).partition("## Limits")[2]

    assert "learned from replies in tickets.csv. It knows" in limits(files[0])
    assert "Reddit" not in limits(files[0])
    assert "learned from replies in tickets.csv, Reddit. It knows" in limits(",".join(files))
    assert "learned from replies on Reddit. Its users" in limits(files[1])


def test_scores_are_put_into_a_module(module, results, capsys):
    fingerprint = identity.read(module)["fingerprint"]
    weights = (module / "variables" / "variables.index").stat().st_ino
    put(results, result(fingerprint))
    main(["card", "--module", str(module), "--results", str(results)])
    assert "1 result written to" in capsys.readouterr().out
    card = (module / "README.md").read_text()
    row = "| sts | sts-test (`abcdef012345`) | pearson | 0.6840 | 0.6500 to 0.7123 | 1,379 |"
    assert row in card
    assert card.index("| pearson |") < card.index("| spearman |")
    assert "| extra |" not in card
    assert "`sts-test`: seed 3." in card
    assert scores.load(module / "assets.extra" / "scores.json")[0]["metrics"]["pearson"] == 0.684
    assert (module / "variables" / "variables.index").stat().st_ino == weights
    assert tf.saved_model.load(str(module))(["a"]).shape == (1, 7)

    put(results, result(fingerprint, name="sts-dev"))
    write.add_scores(module, results)
    assert "sts-dev" in (module / "README.md").read_text()
    assert {path.name for path in module.parent.iterdir()} == {"module", "results"}


def test_what_is_no_score_of_a_module_is_passed_over(tmp_path):
    (tmp_path / "report.json").write_text('{"text": [], "tables": [], "results": []}')
    (tmp_path / "differences.json").write_text('{"a": {}, "b": {}, "differences": []}')
    search_engine = result("") | {"module": None}
    (tmp_path / "search_engine.json").write_text(json.dumps(search_engine))
    put(tmp_path, result("f" * 80, name="contamination", task="contamination"))
    with pytest.raises(InputError, match=r"holds no \*\.json of"):
        scores.read(tmp_path, fingerprint="f" * 80)
    put(tmp_path, result("f" * 80))
    assert len(scores.read(tmp_path, fingerprint="f" * 80)) == 1


def test_only_results_of_the_module_itself_are_its_scores(tmp_path):
    put(tmp_path, result("f" * 80, system="module"))
    put(tmp_path, result("f" * 80, name="sts-test-tuned", system="module_tuned"))
    found = scores.read(tmp_path, fingerprint="f" * 80)
    assert [one["name"] for one in found] == ["sts-test"]


def test_what_must_be_known_of_a_score_stands_below_it(shared, tmp_path):
    note = "F1 is at a threshold chosen on the same data, so it is optimistic."
    put(tmp_path, result("f" * 80, notes=[note]))
    found = scores.read(tmp_path, fingerprint="f" * 80)
    scores.write(tmp_path / "scores.json", found)
    assert scores.load(tmp_path / "scores.json") == found
    about = identity.read(shared / "module")
    card = model_card.render(about, found, size=1)
    assert f"\n`sts-test`: seed 3.\n`sts-test`: {note}\n" in card
    earlier = [{key: value for key, value in found[0].items() if key != "notes"}]
    without = model_card.render(about, earlier, size=1)
    assert without == card.replace(f"`sts-test`: {note}\n", "")


def test_what_a_matrix_was_learned_on_is_said(shared, tmp_path, monkeypatch, capsys):
    about = identity.read(shared / "module")
    learned_on = {"module": {"path": "runs/other", "fingerprint": "abc"}}
    monkeypatch.setattr(write, "export", lambda *_, **__: None)
    (tmp_path / identity.FOLDER).mkdir()
    asked = ["--model_dir", str(tmp_path), "--output", str(tmp_path)]
    for tuned, said in (
        (learned_on, "runs/other (fingerprint abc)"),
        ({"seed": 3}, "a module that its file does not name"),
    ):
        identity.write(tmp_path, about | {"sts_matrix": tuned})
        main(asked)
        assert f"the matrix was learned on {said}; it fits the same" in capsys.readouterr().out
        card = model_card.render(about | {"sts_matrix": tuned}, [], size=1)
        (row,) = [line for line in card.splitlines() if line.startswith("| tuned ")]
        assert (", with the embeddings of runs/other" in row) == (tuned is learned_on)
    identity.write(tmp_path, about)
    main(asked)
    assert "the matrix was" not in capsys.readouterr().out


def test_scores_of_an_earlier_export_are_taken_along(shared, results):
    fingerprint = "f" * 64 + identity.read(shared / "module")["fingerprint"][-16:]
    put(results, result(fingerprint))
    found = scores.read(results, fingerprint="e" * 64 + fingerprint[-16:], exactly=False)
    assert found[0]["metrics"]["spearman"] == 0.5
    with pytest.raises(InputError, match="this module's ends in 0123456789abcdef;"):
        scores.read(results, fingerprint="f" * 64 + "0123456789abcdef", exactly=False)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (result("0" * 80), "is about another module: its fingerprint is 000"),
        ({"name": "x"}, "is not a result of a module: KeyError('task')"),
        (result("", metrics={"pearson": "high"}), "is not a result of a module: ValueError"),
    ],
)
def test_wrong_results_leave_the_module_as_it_was(shared, results, wrong, says):
    before = (shared / "module" / "README.md").read_bytes()
    put(results, wrong)
    with pytest.raises(InputError, match=re.escape(says)):
        write.add_scores(shared / "module", results)
    assert (shared / "module" / "README.md").read_bytes() == before


def test_results_are_looked_at_before_anything_is_exported(tmp_path):
    with pytest.raises(InputError, match=r"--results: '.*nowhere' is not a folder"):
        write.export("no model", tmp_path / "module", results=tmp_path / "nowhere")


def test_what_is_no_module_of_ours_is_refused(tmp_path, results):
    for folder in (tmp_path / "nowhere", results):
        with pytest.raises(SystemExit) as raised:
            main(["card", "--module", str(folder), "--results", str(results)])
        assert "was not written by `python -m export`" in str(raised.value.code)


@pytest.mark.slow
def test_a_tuned_matrix_turns_the_embeddings(shared, tmp_path):
    from model.checkpoints import trained

    model, text = trained.load(shared / "run")
    matrix = np.random.default_rng(0).normal(size=(7, 7)).astype(np.float32)
    np.savez(tmp_path / "sts_matrix.npz", matrix=matrix, about=np.array('{"seed": 3}'))
    read, about = sts_matrix.read(tmp_path / "sts_matrix.npz", dim=7)
    assert about == {"seed": 3}
    module = HubModule(model, text, sts_matrix=read)
    sentences = tf.constant(["a b c", "", "d"])
    rows = model.encode_inputs(text(sentences)).numpy()
    tuned = rows @ matrix
    tuned /= np.linalg.norm(tuned, axis=1, keepdims=True)
    np.testing.assert_allclose(module(sentences), tuned, atol=1e-5)
    np.testing.assert_allclose(
        module.heads["serving_default"](sentences)["outputs"], tuned, atol=1e-5
    )
    np.testing.assert_allclose(module.heads["encode_input"](sentences)["outputs"], rows, atol=1e-5)
    found = module.heads["similarity"](sentences, sentences[::-1])["angular"]
    cosines = np.clip((tuned * tuned[::-1]).sum(axis=1), -1, 1)
    np.testing.assert_allclose(found, 1 - np.arccos(cosines) / np.pi, atol=1e-3)
    plain = HubModule(model, text)
    for name in ("encode_response", "rank_responses", "classify_nli"):
        sides = [sentences[:1], sentences][2 - len(module.heads[name].input_signature) :]
        if name == "classify_nli":
            sides = [sentences, sentences]
        for output, value in plain.heads[name](*sides).items():
            np.testing.assert_allclose(module.heads[name](*sides)[output], value, atol=1e-6)
    assert any(weight is module.sts_matrix for weight in module.trainable_variables)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"matrix": np.eye(3), "about": np.array("{}")}, "holds float64 [3, 3]; accepted: "),
        ({"matrix": np.full((7, 7), np.nan), "about": np.array("{}")}, "not finite"),
        ({"matrix": np.full((7, 7), 1e39), "about": np.array("{}")}, "not finite in float32"),
        ({"matrix": np.zeros((7, 7)), "about": np.array("{}")}, "all zeros; accepted: "),
        ({"about": np.array("{}")}, "matrix"),
    ],
)
def test_a_wrong_matrix_is_refused(tmp_path, content, says):
    np.savez(tmp_path / "m.npz", **content)
    with pytest.raises(InputError, match=re.escape(says)):
        sts_matrix.read(tmp_path / "m.npz", dim=7)
    (tmp_path / "m.npz").write_text("no archive")
    with pytest.raises(InputError, match="--with_sts_matrix"):
        sts_matrix.read(tmp_path / "m.npz", dim=7)
