import json
import subprocess
import sys

from evaluation.__main__ import main
from evaluation.metrics import bootstrap

ROWS = "".join(
    f"main-news\tf\t2012\t{i}\t{gold}\tthe dog {'runs ' * i}\tthe dog runs\n"
    for i, gold in enumerate([1, 2, 4, 5])
)


def test_the_way_through(module, write_text, xml_file, tmp_path, capsys):
    data, results = tmp_path / "data", tmp_path / "results"
    write_text("data/sts-dev.csv", ROWS)
    write_text("data/sts-test.csv.gz", ROWS)
    xml_file(
        "data/cqa/dev.xml",
        [
            ("Q1", "red house", "", "R1", 1, "Irrelevant", "nuts and oats"),
            ("Q1", "red house", "", "R2", 2, "Relevant", "the red house"),
        ],
    )
    write_text("data/cqa/test.xml.subtaskB.relevancy", "Q\tR\t1\t1\ttrue\n")
    common = ["--module", str(module), "--output", str(results)]
    assert main(["sts", "--data", str(data), *common]) == 0
    assert main(["cqa", "--data", str(data / "cqa"), *common]) == 0
    printed = capsys.readouterr().out
    assert "Pearson" in printed
    assert "word overlap" in printed
    assert "search engine" in printed
    names = sorted(path.name for path in results.iterdir())
    assert names == [
        *("cqa-dev.json", "cqa-test.json", "dev.xml.subtaskB.pred"),
        *("sts-dev.json", "sts-test.json"),
    ]
    found = json.loads((results / "sts-test.json").read_text())
    assert found["n"] == 4
    assert found["data"]["file"] == "sts-test.csv.gz"
    assert len(found["data"]["sha256"]) == 64
    assert found["module"]["path"] == str(module)
    assert int(found["module"]["fingerprint"], 16)
    assert set(found["versions"]) == {
        "python",
        "tensorflow",
        "tensorflow_text",
        "numpy",
        "scipy",
    }
    assert found["command"].startswith("python -m evaluation sts --data")
    assert found["seconds"] > 0
    assert json.loads((results / "cqa-dev.json").read_text())["metrics"]["map"] == 1.0
    assert json.loads((results / "cqa-test.json").read_text())["module"] is None

    page = tmp_path / "site" / "report.html"
    assert main(["report", "--results", str(results), "--output", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "sts-test" in printed
    assert f"{found['metrics']['pearson']:.4f}" in printed
    assert f"{found['metrics']['pearson']:.4f}" in page.read_text()
    names = sorted(path.name for path in page.parent.iterdir())
    assert names == ["report.html", "report.json", "report.md"]


def test_tuning_goes_on_beside_the_untuned_scores(module, write_text, tmp_path, capsys, fails):
    write_text("data/sts-dev.csv", ROWS)
    argv = ["sts", "--tune", "--module", module, "--data", tmp_path / "data"]
    argv += ["--output", tmp_path / "results"]
    assert "no sts-train.csv" in fails(*argv)
    write_text("data/sts-train.csv", ROWS + ROWS.replace("dog", "hound"))
    write_text("data/sts-test.csv", ROWS)
    argv = [str(argument) for argument in argv]
    assert main(argv) == 0
    assert "sts_matrix: start" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "results").iterdir()}
    matrix = tmp_path / "results" / "sts_matrix.npz"
    results = {f"sts-{split}{end}.json" for split in ("dev", "test") for end in ("", "-tuned")}
    assert names == {*results, matrix.name}
    found = json.loads((tmp_path / "results" / "sts-test-tuned.json").read_text())
    assert found["system"] == "module_tuned"
    assert {"untuned", "word_overlap"} == set(found["baselines"])
    assert found["data"]["learned_from"]["files"] == ["sts-train.csv", "sts-dev.csv"]
    before = matrix.stat().st_mtime_ns
    assert main(argv) == 0
    assert capsys.readouterr().out.count("already there") == 4
    assert matrix.stat().st_mtime_ns == before


def test_response_ranking_passes_its_settings(module, tmp_path, fails):
    import tensorflow as tf

    def feature(text):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))

    with tf.io.TFRecordWriter(str(tmp_path / "test-0.tfrecord")) as writer:
        for i, word in enumerate(["had", "hound", "rent", "toast", "sort", "nose", "dust"]):
            values = {"input": word, "response": f"{word} {word}"}
            values |= {"input_id": f"i{i}", "response_id": f"r{i}"}
            features = {name: feature(text) for name, text in values.items()}
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    argv = ["response_ranking", "--module", module, "--data", tmp_path, "--output", tmp_path]
    line = fails(*argv)
    assert "7 pairs are too few to rank among 100" in line
    argv = [str(argument) for argument in [*argv, "--candidates", 5, "--seed", 3]]
    assert main(argv) == 0
    found = json.loads((tmp_path / "response_ranking.json").read_text())
    assert found["settings"] == {"candidates": 5, "seed": 3, "resamples": bootstrap.RESAMPLES}
    low, high = found["intervals"]["p_at_3"]
    assert low <= found["metrics"]["p_at_3"] <= high
    assert found["n"] == 7
    assert set(found["metrics"]) == {"p_at_1", "p_at_3", "p_at_10"}


def test_errors_are_one_line(module, write_text, tmp_path, fails):
    bad = write_text("sts-dev.csv", ROWS + "main-news\tonly\tthree\n")
    good = write_text("good.csv", ROWS)
    output = ["--output", tmp_path / "results"]
    assert f"{bad}:5: 3 columns" in fails("sts", "--module", module, "--data", bad, *output)
    nowhere = tmp_path / "nowhere"
    assert str(nowhere) in fails("sts", "--module", nowhere, "--data", good, *output)
    assert str(nowhere) in fails("cqa", "--data", nowhere, *output)
    blocked = ["--output", good / "results"]
    assert str(good) in fails("sts", "--module", module, "--data", good, *blocked)
    report = ["report", "--output", tmp_path / "r.html", "--results"]
    assert str(nowhere) in fails(*report, nowhere)
    assert not (tmp_path / "r.html").exists()


def test_bad_data_is_found_before_the_module_is_loaded(write_text, tmp_path, fails):
    bad = write_text("sts-dev.csv", "nothing\n")
    line = fails("sts", "--module", tmp_path, "--data", bad, "--output", tmp_path)
    assert f"{bad}:1: 1 columns" in line


def test_help_and_report_leave_tensorflow_alone(tmp_path):
    """In a process of their own: this one has imported it."""
    code = (
        "import sys\n"
        "from evaluation.__main__ import main\n"
        f"assert main(['report', '--results', {str(tmp_path)!r}, '--output', 'x.html']) == 1\n"
        "try:\n"
        "    main(['sts', '--help'])\n"
        "except SystemExit as stop:\n"
        "    assert stop.code == 0\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "--module" in ran.stdout
    assert ran.stderr.startswith("error: ")
