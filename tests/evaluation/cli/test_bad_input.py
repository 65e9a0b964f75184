"""What each command says of input that it cannot use: one line, before anything is encoded."""

import json

import pytest

from evaluation.__main__ import main
from evaluation.results import store
from evaluation.results.result import Result

STS = "".join(
    f"main-news\tf\t2012\t{i}\t{gold}\tthe dog {'runs ' * i}\tthe dog runs\n"
    for i, gold in enumerate([1, 2, 4, 5])
)
QUESTION = (
    '<OrgQuestion ORGQ_ID="Q"><OrgQSubject>r</OrgQSubject><RelQuestion RELQ_ID="R" '
    'RELQ_RANKING_ORDER="1" RELQ_RELEVANCE2ORGQ="Relevant"><RelQSubject>x</RelQSubject>'
    "</RelQuestion></OrgQuestion>"
)


def pairs_file(path, count):
    import tensorflow as tf

    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i in range(count):
            texts = {"input": f"q{i}", "response": f"a{i}", "input_id": f"i{i}"}
            features = {
                name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))
                for name, text in (texts | {"response_id": f"r{i}"}).items()
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


@pytest.fixture
def data(write_text, tmp_path):
    """The options that a command needs, by its name; the module is missing, as nothing asks it."""
    write_text("stsb/sts-dev.csv", STS)
    write_text("stsb/sts-test.csv", STS)
    write_text("cqa/dev.xml", f"<xml>{QUESTION}</xml>")
    write_text("snli/dev.jsonl", '{"gold_label": "neutral", "sentence1": "a", "sentence2": "b"}\n')
    pairs_file(tmp_path / "pairs" / "test-0.tfrecord", 12)
    module = ["--module", tmp_path / "no_module"]
    return {
        "sts": ["sts", *module, "--data", tmp_path / "stsb"],
        "cqa": ["cqa", *module, "--data", tmp_path / "cqa"],
        "snli": ["snli", *module, "--data", tmp_path / "snli"],
        "response_ranking": ["response_ranking", *module, "--data", tmp_path / "pairs"],
        "mistakes": ["mistakes", *module, "--response_ranking", tmp_path / "pairs"],
        "baselines": ["baselines", "--response_ranking", tmp_path / "pairs"],
        "contamination": [
            *("contamination", "--training", tmp_path / "stsb" / "sts-test.csv"),
            *("--sts", tmp_path / "stsb"),
        ],
    }


COMMANDS = ("sts", "cqa", "snli", "response_ranking", "mistakes", "baselines", "contamination")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_seed_and_an_output_are_checked_first(command, data, fails, tmp_path, write_text):
    write_text("file.csv", "")
    output = ["--output", tmp_path / "out"]
    line = "error: --seed is -1; 0 to 4294967295 are accepted"
    assert fails(*data[command], *output, "--seed", -1) == line
    assert "4294967296" in fails(*data[command], *output, "--seed", 2**32)
    for blocked in ("file.csv", "file.csv/x"):
        line = fails(*data[command], "--output", tmp_path / blocked)
        assert line.startswith(f"error: --output {tmp_path / blocked}: cannot be written")
        assert "file.csv is a file" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--sts", "stsb", "--training_pairs", "pairs"], "--training_pairs: --response_ranking is"),
        (["--response_ranking", "pairs", "--sts_columns", *"abc"], "--sts_columns: --sts is miss"),
        (["--candidates", "50"], "--candidates: accepted with --response_ranking, which is miss"),
        (["--sts", "stsb", "--no_quotes"], "--no_quotes: accepted with --sts_columns, which"),
        (["--vectors", "a/x.txt", "b/x.vec.gz"], "as those of --vectors a/x.txt; accepted: other"),
        (["--module_words", "a/m", "b/m"], "as those of --module_words a/m; accepted: other"),
        (["--modules", "a/m", "b/m"], "--modules b/m: its results would be in baselines/m, as"),
        (["--modules", "BM25"], "--modules BM25: its results would be in baselines/BM25, as"),
    ],
)
def test_baselines_that_cannot_be_are_refused_before_any(
    asked, said, data, fails, tmp_path, write_text, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("a/x.txt", "b/x.vec.gz", *(f"{m}/saved_model.pb" for m in ("a/m", "b/m", "BM25"))):
        write_text(name, "")
    sts = [] if "--response_ranking" in asked else ["--sts", "stsb"]
    assert said in fails("baselines", *sts, *asked, "--output", "out")
    assert not (tmp_path / "out" / "baselines").exists()


@pytest.mark.parametrize("command", ["response_ranking", "mistakes", "baselines"])
def test_candidates_are_checked_before_a_module_is_loaded(command, data, fails, tmp_path):
    output = ["--output", tmp_path / "out"]
    for wrong in (1, 0, -3):
        line = f"error: --candidates is {wrong}; 2 or more are accepted"
        assert fails(*data[command], *output, "--candidates", wrong) == line
    if command != "baselines":
        few = "12 pairs are too few to rank among 13 candidates"
        assert few in fails(*data[command], *output, "--candidates", 13)


def test_no_precision_is_asked_for_beyond_the_candidates(data, fails, tmp_path):
    ranking = [*data["response_ranking"], "--output", tmp_path / "out", "--candidates", 10]
    for wrong in (0, 11, 200):
        line = f"error: --at is {wrong}; 1 to 10, the --candidates, are accepted"
        assert fails(*ranking, "--at", 1, wrong) == line


def test_a_question_file_needs_a_module_and_a_dev_file_with_text(data, fails, write_text, tmp_path):
    labels = write_text("labels.relevancy", "Q\tR\t1\t1\ttrue\n")
    output = ["--output", tmp_path / "out"]
    without = ["cqa", "--data", tmp_path / "cqa", *output]
    assert "cqa-dev has questions to rank: --module is needed" in fails(*without)
    assert "has no text to choose" in fails(*data["cqa"], *output, "--dev", labels)
    assert "--train" in fails(*data["snli"], *output, "--train", tmp_path / "snli")
    for encoding, reason in (("big5", "multi-byte encodings"), ("nosuch", "unknown encoding")):
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
        data_file = write_text("other.xml", f"{head}<xml>{QUESTION}</xml>")
        line = fails("cqa", "--module", "m", "--data", data_file, *output)
        assert reason in line
        assert "UTF-8 is accepted" in line


def test_what_a_baseline_needs_is_looked_for_first(data, fails, tmp_path):
    baselines = [*data["baselines"], "--candidates", 5, "--output", tmp_path / "out"]
    assert "nowhere" in fails(*baselines, "--vectors", tmp_path / "nowhere")
    assert "--vectors" in fails(*baselines, "--vectors", tmp_path)
    for option in ("--modules", "--module_words"):
        assert "no SavedModel here" in fails(*baselines, option, tmp_path / "nowhere")
    assert not (tmp_path / "out").exists()


def scored(name="sts-dev", *, score=0.1, **fields):
    items = [
        {
            **{"gold": float(i), "score": score * i, "genre": "main-news"},
            **{"sentence1": f"s{i}", "sentence2": "t", "baselines": {"word_overlap": i / 9}},
        }
        for i in range(4)
    ]
    given = {
        "task": "sts",
        "name": name,
        "system": "module",
        "metrics": {"pearson": 0.5, "spearman": 0.5},
        "intervals": {"pearson": [0.4, 0.6]},
        "n": 4,
        "groups": {"main-news": {"n": 4, "metrics": {"pearson": 0.5}}},
        "baselines": {"word_overlap": {"pearson": 0.2}},
        "items": items,
        "data": {"file": f"{name}.csv", "sha256": "ab" * 32},
        "module": {"path": "m", "fingerprint": "c0"},
    }
    return Result(**(given | fields))


@pytest.fixture
def results(tmp_path):
    store.write(scored(), tmp_path / "results")
    return tmp_path / "results"


def changed(path, *keys, value=None):
    """Remove what stands under some keys of a JSON file, or give it a value."""
    fields = json.loads(path.read_text())
    *parents, last = keys
    place = fields
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    path.write_text(json.dumps(fields))


@pytest.mark.parametrize(
    ("keys", "value", "said"),
    [
        (["metrics", "pearson"], None, "metrics.pearson is missing"),
        (["metrics"], None, "metrics is missing"),
        (["metrics"], [1], "metrics is [1]; an object is needed"),
        (["metrics", "pearson"], "0.5", 'metrics.pearson is "0.5"; a number or null is needed'),
        (["metrics", "pearson"], float("nan"), "metrics.pearson is NaN"),
        (["metrics", "pearson"], True, "metrics.pearson is true"),
        (["task"], "poetry", 'task is "poetry"; sts, snli'),
        (["n"], "4", 'n is "4"; a whole number'),
        (["intervals", "pearson"], [0.5], "intervals.pearson is [0.5]; a list of two numbers"),
        (["groups", "main-news", "metrics"], None, "groups.main-news.metrics is missing"),
        (["baselines", "word_overlap"], 0.5, "baselines.word_overlap is 0.5; an object"),
        (["items", 2, "gold"], None, "items.2.gold is missing"),
        (["items", 2, "score"], "x", 'items.2.score is "x"; a number'),
        (["items", 2, "baselines", "word_overlap"], "x", "items.2.baselines.word_overlap is"),
        (["items"], {"a": 1}, "items is {"),
        (["module", "fingerprint"], None, "module.fingerprint is missing"),
        (["module"], "m", 'module is "m"; an object is needed'),
        (["settings", "seed"], [1], "settings.seed is [1]; a number or text"),
        (["seconds"], "1", "seconds is"),
        (["colour"], "red", "colour"),
    ],
)
def test_a_result_that_is_none_is_named_with_the_key(
    keys, value, said, results, fails, tmp_path, monkeypatch
):
    path = results / "sts-dev.json"
    changed(path, *keys, value=value)
    for argv in (
        ["report", "--results", results, "--output", tmp_path / "page.html"],
        ["compare", results, results],
    ):
        line = fails(*argv)
        assert line.startswith(f"error: {path}: not a result of this program")
        assert said in line
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("task", "fields", "said"),
    [
        ("snli", {}, "metrics.accuracy is missing"),
        ("cqa", {}, "metrics.map is missing"),
        ("response_ranking", {"items": []}, "one figure or more, each called p_at_N, is needed"),
        ("response_ranking", {"metrics": {}, "items": []}, "metrics is {}; one figure or more"),
        ("retrieval", {"metrics": {"ndcg_at_10": 0.5}}, "counts.documents is missing"),
        ("contamination", {}, "counts.pairs_in_training is missing"),
        ("sts_regression", {}, "settings.row is missing"),
        ("mistakes", {}, "groups.main-news.metrics.spearman is missing"),
    ],
)
def test_each_task_has_figures_of_its_own(task, fields, said, tmp_path, fails):
    store.write(scored(task=task, **fields), tmp_path / "results")
    output = ["--output", tmp_path / "page.html"]
    assert said in fails("report", "--results", tmp_path / "results", *output)


def test_a_sentence_is_not_compared_with_itself(data, fails, write_text, tmp_path):
    write_text("own.csv", "a,b,s\nx,y,1\nv,w,2\n")
    columns = ["--data", tmp_path / "own.csv", "--columns", "a", "a", "s"]
    said = fails("sts", "--module", "nowhere", *columns, "--output", tmp_path / "out")
    assert said == "error: --columns a a s: three different columns are accepted"


def test_a_file_that_is_no_json_is_named(results, fails):
    report = ["report", "--results", results, "--output", results / "page.html"]
    for wrong in ("", "[1]", "{", "[" * 100_000):
        (results / "sts-dev.json").write_text(wrong)
        assert fails(*report).startswith(f"error: {results / 'sts-dev.json'}: not a result")


def test_a_report_has_a_place_for_what_a_result_may_lack(tmp_path):
    store.write(scored(items=[], data={}, module=None), tmp_path / "results")
    page = tmp_path / "page.html"
    assert main(["report", "--results", str(tmp_path / "results"), "--output", str(page)]) == 0
    assert "0.500" in page.read_text()


def test_the_report_and_differences_may_lie_among_the_results(results, tmp_path):
    argv = ["report", "--results", str(results), "--output", str(results / "report.html")]
    differences = str(results / "differences.json")
    assert main(argv) == 0
    first = (results / "report.html").read_text()
    assert main(["compare", str(results), str(results), "--output", differences]) == 0
    assert main(argv) == 0
    assert main(["compare", str(results), str(results), "--output", differences]) == 0
    assert (results / "report.html").read_text() == first


def test_a_result_is_never_replaced_by_a_report(results, fails, tmp_path):
    kept = (results / "sts-dev.json").read_bytes()
    for argv in (
        ["report", "--results", results, "--output", results / "sts-dev.html"],
        ["compare", results, results, "--output", results / "sts-dev.json"],
    ):
        assert f"{results / 'sts-dev.json'}: there already" in fails(*argv)
    (tmp_path / "README.md").write_text("# Of somebody else\n")
    line = fails("report", "--results", results, "--output", tmp_path / "README.html")
    assert "README.md: there already, and not written by report; it is kept" in line
    assert (results / "sts-dev.json").read_bytes() == kept
    assert not (results / "sts-dev.html").exists()


def test_two_files_of_one_result_are_refused(results, fails):
    (results / "sts-dev copy.json").write_bytes((results / "sts-dev.json").read_bytes())
    line = fails("report", "--results", results, "--output", results / "page.html")
    assert "a result named sts-dev, as sts-dev copy.json is; keep one" in line


def test_what_can_be_compared_is_said(results, fails, tmp_path):
    other = tmp_path / "other"
    store.write(scored(data={"file": "x.csv", "sha256": "cd" * 32}), other)
    assert "nowhere: no such file or folder" in fails("compare", results, tmp_path / "nowhere")
    line = fails("compare", results, results, "--system_a", "nosuch")
    assert "--system_a is 'nosuch'; sts-dev has the baselines word_overlap" in line
    assert "--system_b is 'x'" in fails("compare", results, results, "--system_b", "x")
    line = fails("compare", results, other)
    assert f"sts-dev.csv (SHA-256 {'ab' * 6}) and x.csv (SHA-256 {'cd' * 6})" in line
    for name in ("sts-2016", "sts-2015"):
        store.write(scored(name), other)
    (other / "sts-dev.json").unlink()
    line = fails("compare", results, other)
    assert "the first has sts-dev; the second has sts-2015, sts-2016" in line
    ranking = {"task": "response_ranking", "name": "r"}
    items = [{"rank": 1, "block": 0, "input_id": "i", "response_id": "r"}]
    for folder, at in (("a", "p_at_1"), ("b", "p_at_5")):
        store.write(scored(metrics={at: 0.5}, items=items, **ranking), tmp_path / folder)
    line = fails("compare", tmp_path / "a", tmp_path / "b")
    assert "no metric in both; the first has p_at_1, the second p_at_5" in line
    store.write(scored(items=[]), tmp_path / "empty")
    assert "no items are stored" in fails("compare", tmp_path / "empty", tmp_path / "empty")


def test_other_columns_are_other_data(module, fails, write_text, tmp_path):
    rows = "sentence_A\tsentence_B\trelatedness_score\tother\n"
    rows += "the dog\ta dog\t5\t1\nred\thouse\t1\t5\nsea\tnone\t2\t4\n"
    asked = ["sts", "--module", module, "--data", write_text("SICK_x.txt", rows)]
    asked += ["--output", tmp_path / "out"]
    columns = ("--columns", "sentence_A", "sentence_B", "other")
    assert main([*map(str, asked), *columns]) == 0
    assert "already there, of columns sentence_A, sentence_B, other, not None" in fails(*asked)


def test_mistakes_needs_pairs_for_candidates(data, fails, tmp_path):
    asked = ["--sts", tmp_path / "stsb", "--candidates", "50", "--output", tmp_path / "out"]
    line = fails("mistakes", "--module", "nowhere", *asked)
    assert "--candidates: accepted with --response_ranking, which is missing" in line


def test_stored_results_are_looked_at_before_any_is_computed(data, module, fails, tmp_path):
    sts = ["sts", "--module", module, "--data", tmp_path / "stsb", "--output", tmp_path / "out"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sts-test.json").write_text("{")
    assert "sts-test.json: not a result" in fails(*sts)
    assert not (tmp_path / "out" / "sts-dev.json").exists()


def test_contamination_fits_its_results_before_it_reads_the_training_data(
    data, fails, write_text, tmp_path, results
):
    damaged = write_text("damaged.csv", "x\n")
    base = ["contamination", "--training", damaged, "--output", tmp_path / "out"]
    stsb = ["--sts", tmp_path / "stsb"]
    line = fails(*base, *stsb, "--results", results)
    assert "sts-dev: computed on other data" in line
    line = fails(*base, *stsb, tmp_path / "stsb")
    assert "sts-dev: two evaluation sets of this name" in line
    ranked = {"task": "response_ranking", "name": "response_ranking", "settings": {"seed": 3}}
    store.write(scored(metrics={"p_at_1": 0.5}, items=[{"rank": 1}], **ranked), tmp_path / "r")
    pairs = ["--response_ranking", tmp_path / "pairs", "--results", tmp_path / "r"]
    assert "--seed is 0; response_ranking in --results is in the order of the seed 3" in fails(
        *base, *pairs
    )
    assert "no result of sts-dev" in fails(*base, *stsb, "--results", tmp_path / "r")
    line = fails("contamination", "--training", write_text("x.parquet", ""), *stsb, *base[3:])
    assert ".tfrecord, .jsonl, .txt and .csv are accepted" in line


@pytest.mark.parametrize(
    "manifest",
    [
        "x",
        "[]",
        '{"outputs": []}',
        '{"outputs": {"train-0": 3}}',
        '{"outputs": {"train-0": {"records": "x"}}}',
        '{"outputs": {"train-0": {"records": 0}}}',
    ],
)
def test_a_page_of_rows_needs_a_manifest_with_pairs(manifest, fails, write_text, tmp_path):
    store.write(scored(), tmp_path / "results" / "a-0")
    path = write_text("pairs/COMPLETED", manifest)
    rows = ["rows", "--results", tmp_path / "results", "--pairs", tmp_path / "pairs"]
    assert str(path) in fails(*rows, "--output", tmp_path / "page.md")


def test_a_page_of_rows_is_written_whole_or_not_at_all(fails, write_text, tmp_path):
    for share in (1, 10, 100):
        store.write(scored(), tmp_path / "results" / f"growth_{share}-0")
    write_text("pairs/COMPLETED", '{"outputs": {"train-0": {"records": 100}}}')
    rows = ["rows", "--results", tmp_path / "results", "--pairs", tmp_path / "pairs"]
    rows += ["--output", tmp_path / "page.md"]
    assert "--runs growth: no such folder" in fails(*rows, "--runs", "growth")
    assert "nowhere" in fails(*rows, "--learned", tmp_path / "nowhere")
    latin = write_text("learned.md", b"\xff\xfe")
    assert "not UTF-8" in fails(*rows, "--learned", latin)
    assert "Markdown file" in fails(*rows[:-1], tmp_path / "results.json")
    assert sorted(path.name for path in tmp_path.glob("page*")) == []


def test_an_interrupted_command_says_so(results, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "read_results", interrupted)
    assert main(["compare", str(results), str(results)]) == 130
    assert capsys.readouterr().err == "stopped; finished results are kept\n"
