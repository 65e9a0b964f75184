import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from evaluation.__main__ import main as evaluate
from model.sts_regression import choices as choices_module
from model.sts_regression.__main__ import main
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.training import run
from model.sts_regression.training.fold import Job

ROW = "sts_regression-sts2016-random-sif_perceptron"
OWN = """
from model.sts_regression.layers.comparators import perceptron
from model.sts_regression.layers.materials import Embedded
from model.sts_regression.experiments import Experiment
import tensorflow as tf

def mean(words, materials):
    real = tf.cast(words.mask, tf.float32)[:, :, tf.newaxis]
    found = tf.reduce_sum(words.vectors * real, axis=1) / tf.reduce_sum(real, axis=1)
    return Embedded(found, found[:, tf.newaxis], words.mask[:, :1])

EXPERIMENTS = {"mine": Experiment("Mean and Perceptron", mean, perceptron)}
"""


def test_table_2_has_its_11_rows_in_its_order():
    scores = [experiment.paper[0] for experiment in TABLE_2.values()]
    assert len(scores) == 11
    assert scores == sorted(scores, reverse=True)
    assert {e.epochs for name, e in TABLE_2.items() if name.startswith("lstm")} == {50}
    assert TABLE_2["sif_perceptron"].epochs == TABLE_2["l2_lstm_100"].epochs == 100


def test_the_paper_preset_is_the_papers():
    found = choices_module.of("paper", {})
    assert (found.folds, found.epoch_share, found.learning_rate, found.units) == (10, 1, 1e-4, 0)
    assert (found.gates, found.recurrent_initializer, found.clip_norm) == ("printed", "HeNormal", 0)
    assert (found.folds_by, found.encoders, found.batch) == ("random", "two", 32)
    assert choices_module.of("quick", {"folds": 7}).folds == 7


def test_a_result_has_what_the_report_reads(results):
    assert set(results) == {
        f"sts_regression-sts2016-{way}-sif_perceptron" for way in ("random", "sentences")
    }
    found = results[ROW]
    assert found["baselines"] == {"paper": {"pearson": 0.2214, "pearson_in_sample": 0.8795}}
    assert (found["task"], found["n"], found["settings"]["epochs"]) == ("sts_regression", 24, 4)
    assert {name: group["n"] for name, group in found["groups"].items()} == {
        "headlines": 12,
        "plagiarism": 12,
    }
    assert found["counts"]["words_without_vector"] > 0
    assert set(found["intervals"]) == {"pearson", "mse", "pearson_sts2017_track5"}
    for name in found["intervals"]:
        low, high = found["intervals"][name]
        assert low < found["metrics"][name] < high
    folds = [one["out_of_sample"]["pearson"] for one in found["items"]]
    assert found["metrics"]["pearson"] == pytest.approx(sum(folds) / 2)


def test_the_table_says_what_grouping_does(finished):
    table = (finished / "table_2.md").read_text()
    assert "| SIF and Perceptron" in table
    assert "| 0.2214" in table
    assert "24 pairs, 2 folds, sentences, fresh weights.** 0 of the 24 pairs held out" in table
    assert "**What grouping does.**" in table


def test_the_report_of_the_evaluation_shows_them(finished, tmp_path):
    page = tmp_path / "report.html"
    evaluate(["report", "--results", str(finished / "results"), "--output", str(page)])
    shown = page.read_text()
    assert "What grouping the folds of sts2016 by sentence does" in shown
    assert "sts2017_track5: " in shown
    assert "2 LSTM Stack and 2 LSTM Stack" in shown  # the paper's rows


@pytest.mark.slow
def test_what_is_done_is_not_done_again(command, finished, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    first, second = sorted((folder / "folds" / "random" / "sif_perceptron").iterdir())
    before = json.loads(first.read_text())
    second.unlink()
    marked = before | {"seconds": 12345.0}
    first.write_text(json.dumps(marked))
    assert main(command("run", folder, "--rows", "sif_perceptron", "--jobs", 1)) == 0
    said = capsys.readouterr().out
    assert "1 of 2 folds are there already" in said
    assert json.loads(first.read_text()) == marked
    original = finished / "folds" / "random" / "sif_perceptron" / second.name
    again, once = (json.loads(path.read_text()) for path in (second, original))
    assert again["predicted"] == once["predicted"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rows", "lstm1_perceptron", "--seed", 3), "made with seed=0, now it is 3"),
        (("--rows", "lstm7"), "--rows: 'lstm7'; accepted: lstm2_lstm2,"),
        (("--folds", 25), "folds: 25; accepted: 2 to 24, as there are 24 pairs"),
        (("--learning_rate", 0), "learning_rate: 0.0; accepted: numbers above 0"),
        (("--learning_rate", "inf"), "learning_rate: inf; accepted: numbers above 0"),
        (("--epoch_share", "inf"), "epoch_share: inf; accepted: numbers above 0"),
        (("--sif_a", "nan"), "sif_a: nan; accepted: numbers above 0"),
        (("--clip_norm", "nan"), "clip_norm: nan; accepted: numbers of at least 0"),
        (("--clip_norm", "inf"), "clip_norm: inf; accepted: numbers of at least 0"),
        (("--seed", -1), "seed: -1; accepted: numbers of at least 0"),
        (("--seed", 2**32), "seed: 4294967296; accepted: numbers from 0 to 4294967295"),
        (("--dim", 0), "--dim 0; accepted: numbers of at least 1"),
        (("--jobs", 0), "--jobs 0; accepted: numbers of at least 1"),
        (("--dim", 300), ":1: 6 numbers after the word; accepted: 300"),
        (("--rows_file", "nowhere.py"), "nowhere.py: no such file of experiments"),
        (("--corpus", "stsb"), "--weights_between_folds carried: stsb has its own split"),
    ],
)
def test_what_cannot_be_run_is_told_in_a_line(command, finished, capsys, options, message):
    assert main(command("run", finished, *options)) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert message in said
    assert said.count("\n") == 1


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_read(
    command, tmp_path, capsys
):
    (tmp_path / "file").touch()
    nowhere = ["--data", "nowhere"]
    for name, more in (
        ("run", []),
        ("export", ["--row", "sif_perceptron"]),
        ("vectors", ["--module", "nowhere"]),
    ):
        line = [*command(name, tmp_path / "file" / "x"), *more]
        if name == "vectors":
            line = [name, "--output", str(tmp_path / "file" / "x"), *more]
        assert main([*line, *nowhere]) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: --output ")
        assert said.endswith(f"{tmp_path}/file is not a folder\n")
    export = command("export", tmp_path / "new", "--row", "sif_perceptron", "--export_words", -1)
    assert main([*export, *nowhere]) == 1
    assert "--export_words -1; accepted: numbers of at least 0" in capsys.readouterr().err
    (tmp_path / "module").mkdir()
    of_module = [*export[:-1], "5", "--vectors", str(tmp_path / "module")]
    assert main(of_module) == 1
    assert "--export_words: 5; accepted with a file of vectors, as '" in capsys.readouterr().err
    export = command("export", tmp_path / "new", "--row", "sif_perceptron", "--folds", 3)
    assert main([*export, *nowhere]) == 1
    assert "error: --folds: accepted only by run" in capsys.readouterr().err
    assert main(["vectors", *nowhere, "--module", "x", "--output", str(tmp_path)]) == 1
    assert "the name of a file is accepted" in capsys.readouterr().err
    of_file = ["--module", str(tmp_path / "file"), "--output", str(tmp_path / "x")]
    assert main(["vectors", *nowhere, *of_file]) == 1
    assert "file: not a folder; a SavedModel is accepted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no result (Expecting"),
        ("[]", "no result (metrics is missing"),
        ('{"metrics": 3}', "no result (metrics is missing or of another type)"),
    ],
)
def test_a_result_of_before_that_is_none_is_found_before_anything_is_trained(
    command, tmp_path, capsys, text, said
):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / f"{ROW}.json").write_text(text)
    assert main([*command("run", tmp_path), "--data", "nowhere"]) == 1
    line = capsys.readouterr().err
    assert line.startswith(f"error: {tmp_path / 'results' / ROW}.json: {said}")


@pytest.mark.slow
def test_rows_may_come_later_but_not_with_other_settings(command, tmp_path, capsys):
    one = command("run", tmp_path, "--rows", "sif_perceptron", "--jobs", 1)
    other = command("run", tmp_path, "--rows", "lstm1_perceptron", "--jobs", 1)
    assert main(one) == 0
    assert main([*other, "--learning_rate", "0.5"]) == 1
    said = capsys.readouterr().err
    assert "settings.json: made with learning_rate=0.01, now it is 0.5; name another" in said
    assert main(other) == 0
    table = (tmp_path / "table_2.md").read_text()
    assert "| SIF and Perceptron" in table
    assert "| 1 LSTM and Perceptron" in table


@pytest.mark.slow
def test_a_row_of_ones_own_runs_beside_them(command, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    own = ("--rows_file", tmp_path / "own.py", "--jobs", 1)
    assert main(command("run", tmp_path / "run", *own)) == 0
    (path,) = (tmp_path / "run" / "results").iterdir()
    assert json.loads(path.read_text())["settings"]["label"] == "Mean and Perceptron"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_like_it", "own.py:1: ModuleNotFoundError: No module named"),
        ("1\n2 +\n", "own.py:2: SyntaxError: invalid syntax"),
        ("EXPERIMENTS = [1]", "own.py: EXPERIMENTS must be a dict of one or more names and Exp"),
        ("EXPERIMENTS = {}", "own.py: EXPERIMENTS must be a dict of one or more names and Exp"),
        (OWN.replace('"mine"', '"cosine"'), "own.py: EXPERIMENTS has 'cosine'; accepted: "),
        (
            OWN.replace("Mean and", "SIF and"),
            "own.py: the label 'SIF and Perceptron' is of two rows; accepted: one label a row",
        ),
    ],
)
def test_a_file_of_rows_that_fails_is_told_in_a_line(command, tmp_path, capsys, text, message):
    (tmp_path / "own.py").write_text(text)
    options = ("--rows_file", tmp_path / "own.py", "--jobs", 1)
    assert main(command("run", tmp_path / "run", *options)) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.slow
def test_folds_of_rows_that_were_rewritten_are_not_used(command, tmp_path, capsys):
    own = tmp_path / "own.py"
    own.write_text(OWN)
    options = ("--rows", "mine", "--rows_file", own, "--jobs", 1)
    assert main(command("run", tmp_path / "run", *options)) == 0
    own.write_text(OWN.replace("real, axis=1)\n", "real, axis=1) / 2\n"))
    assert main(command("run", tmp_path / "run", *options)) == 1
    assert "made with rows_file=" in capsys.readouterr().err
    # The rows of table 2 are not its business.
    both = ("--rows", "sif_perceptron", "--rows_file", own, "--jobs", 1)
    assert main(command("run", tmp_path / "run", *both)) == 0
    own.write_text(OWN)
    assert main(command("run", tmp_path / "run", *both)) == 0
    assert "2 of 2 folds are there already" in capsys.readouterr().out


def test_sts_benchmark_has_its_own_split(command, tmp_path):
    line = command("run", tmp_path, "--corpus", "stsb", "--rows", "sif_perceptron", "--jobs", 1)
    at = line.index("--folds")
    assert main(line[:at] + line[at + 2 :]) == 0
    (path,) = (tmp_path / "results").iterdir()
    found = json.loads(path.read_text())
    assert [found["items"][0][key] for key in ("pairs_training", "pairs_held_out")] == [12, 6]
    assert found["intervals"].keys() == {"pearson", "pearson_sts-test"}
    assert "18 pairs, its own split" in (tmp_path / "table_2.md").read_text()


@pytest.mark.slow
def test_processes_are_replaced_after_so_many_folds(monkeypatch):
    monkeypatch.setattr(run, "_FOLDS_A_PROCESS", 2)
    monkeypatch.setattr(run, "_compute", lambda job: {"seconds": job.number})
    chain = [Job("chain", "random", number) for number in range(4)]
    alone = [Job("alone", "random", 0)]
    found = []

    def rounds(chains):
        while chains:
            with ThreadPoolExecutor(1) as pool:
                folds = run._run_chains(pool, chains, jobs=1)
                round_of = []
                while True:
                    try:
                        round_of.append(next(folds)[0])
                    except StopIteration as ended:
                        chains = ended.value
                        break
            found.append(round_of)

    rounds([chain, alone])
    assert found == [chain[:2], chain[2:], alone]


@pytest.mark.slow
def test_processes_come_to_the_same(command, finished, results, tmp_path):
    assert main(command("run", tmp_path, "--rows", "sif_perceptron", "--jobs", 2)) == 0
    found = json.loads((tmp_path / "results" / f"{ROW}.json").read_text())
    for one, other in zip(found["items"], results[ROW]["items"], strict=True):
        assert one["predicted"] == pytest.approx(other["predicted"], abs=2e-3)


CARRIED_ROW = "sts_regression-sts2016-random_carried-lstm1_perceptron"


@pytest.fixture(scope="module")
def both(command, tmp_path_factory):
    """The folder of one row with fresh and with carried weights."""
    folder = tmp_path_factory.mktemp("both") / "run"
    weights = ("--weights_between_folds", "fresh", "carried")
    line = command("run", folder, "--rows", "lstm1_perceptron", *weights, "--jobs", 1)
    assert main(line) == 0
    return folder


def folds_of(folder, way):
    paths = sorted((folder / "folds" / way / "lstm1_perceptron").glob("*.json"))
    return [json.loads(path.read_text()) for path in paths]


@pytest.mark.slow
def test_carried_weights_begin_where_the_fold_before_ended(both):
    fresh, carried = (folds_of(both, way) for way in ("random", "random_carried"))
    assert carried[0]["predicted"] == fresh[0]["predicted"]
    assert carried[0]["losses"] == fresh[0]["losses"]
    assert carried[1]["held_out"] == fresh[1]["held_out"]
    assert carried[1]["predicted"] != fresh[1]["predicted"]
    assert not list((both / "folds").rglob("*.partial.npz"))


@pytest.mark.slow
def test_both_readings_are_in_the_table_and_in_the_report(both, tmp_path):
    table = (both / "table_2.md").read_text()
    assert "**Fresh or carried weights, folds: random.**" in table
    assert "Which reading is nearer is not tested: 1 rows have all figures." in table
    found = json.loads((both / "results" / f"{CARRIED_ROW}.json").read_text())
    assert found["settings"]["weights_between_folds"] == "carried"
    # Its folds depend on each other; the pairs of the test do not.
    assert found["intervals"].keys() == {"pearson_sts2017_track5"}
    page = tmp_path / "report.html"
    evaluate(["report", "--results", str(both / "results"), "--output", str(page)])
    assert "Fresh or carried weights (Prijatelj et al. 2017, table 2)" in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("lost", [("01.json",), ("01.json", "00.npz", "01.npz")])
def test_carried_folds_go_on_where_weights_are_left_else_begin_again(
    command, both, tmp_path, capsys, lost
):
    folder = tmp_path / "run"
    shutil.copytree(both, folder)
    of_row = folder / "folds" / "random_carried" / "lstm1_perceptron"
    for name in lost:
        (of_row / name).unlink(missing_ok=True)
    if lost == ("01.json",):  # as if it had stopped before the second fold was written
        (of_row / "01.npz").rename(of_row / "00.npz")
    weights = ("--weights_between_folds", "carried")
    line = command("run", folder, "--rows", "lstm1_perceptron", *weights, "--jobs", 1)
    assert main(line) == 0
    said = capsys.readouterr().out
    if lost == ("01.json",):
        assert "1 of 2 folds are there already" in said
    else:
        assert (
            folds_of(folder, "random_carried")[1]["predicted"]
            == (folds_of(both, "random_carried")[1]["predicted"])
        )
