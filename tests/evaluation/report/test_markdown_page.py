import dataclasses
import datetime
import json
import os

import pytest

from common.errors import InputError
from evaluation.__main__ import main
from evaluation.report import growth, markdown_page, paper, paper_tables
from evaluation.report.cells import OURS, markdown
from evaluation.report.data_dir import with_data_as_dir
from evaluation.report.systems import read_runs, shares
from evaluation.results import store
from evaluation.results.result import Result
from evaluation.tasks import snli


def scored(task="sts", name="sts-dev", *, system="module", groups=None, baselines=None, **metrics):
    return Result(
        task=task,
        name=name,
        system=system,
        metrics=metrics,
        n=paper.SIZES.get(name.removesuffix("-tuned"), 10),
        groups={genre: {"n": 5, "metrics": {"pearson": r}} for genre, r in (groups or {}).items()},
        baselines=baselines or {},
        command=f"python -m evaluation {task} --data /some/where/{name}",
    )


@pytest.fixture
def results(tmp_path):
    """Two seeds of one system, one of another, a point of growth, a baseline."""
    folder = tmp_path / "results"

    def put(run, *found):
        for one in found:
            store.write(one, folder / run)

    engine = {"search_engine": {"map": 0.7}, "ceiling": {"map": 0.9}}
    put(
        "reddit-0",
        scored(
            pearson=0.70, groups={"main-news": 0.5}, baselines={"word_overlap": {"pearson": 0.6}}
        ),
        scored(name="sts-dev-tuned", pearson=0.80),
        scored(
            *["response_ranking"] * 2,
            baselines={
                "word_overlap": {"p_at_1": 0.1, "p_at_3": 0.2, "p_at_10": 0.25},
                "chance": {"p_at_1": 0.01, "p_at_3": 0.03, "p_at_10": 0.1},
            },
            **{"p_at_1": 0.3, "p_at_3": 0.4, "p_at_10": 0.5},
        ),
        scored("cqa", "cqa-2016", baselines=engine, map=0.65),
        scored(
            "cqa", "cqa-2017", system="search_engine", baselines={"ceiling": {"map": 0.7}}, map=0.4
        ),
    )
    put(
        "reddit-1",
        scored(pearson=0.74, groups={"main-news": 0.7}),
        scored("snli", "snli-test", accuracy=0.5),
    )
    labelled = scored("snli", "snli-test", accuracy=0.6)
    labelled = dataclasses.replace(labelled, notes=[snli.OWN_LABELS])
    put("bilstm_max_nli-0", scored(pearson=0.6), labelled)
    for share, r in ((10, 0.5), (30, 0.55), (100, 0.6)):
        put(f"growth_{share}-0", scored(pearson=r))
    put("baselines/TF-IDF", scored(pearson=0.65))
    put("baselines/words_of_it", scored(pearson=0.55))
    return folder


@pytest.fixture
def pairs(tmp_path):
    sizes = [70, 30, *[50] * 4, *[250] * 2, *[100] * 2]
    outputs = {f"train-0000{n}-of-00010": {"records": size} for n, size in enumerate(sizes)}
    outputs["test-00000-of-00001.tfrecord"] = {"records": 99}
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    return tmp_path / "pairs"


def cells(text, start):
    """The cells of the line of a Markdown table that starts so."""
    (found,) = [line for line in text.splitlines() if line.startswith(f"| {start} ")]
    return [cell.strip() for cell in found.strip("|").split("|")][1:]


def page(results):
    """Tables 1 to 6, without the points of growth."""
    systems, _ = shares(read_runs(results), "growth")
    return "\n\n".join(map(markdown, paper_tables.tables(systems)))


def table(text, title):
    return next(part for part in text.split("**Table ") if part.startswith(title))


def test_seeds_are_one_row_with_mean_and_deviation(results):
    text = page(results)
    three = table(text, "3")
    # By hand: the mean of 0.70 and 0.74; their deviation, with n - 1, is 0.04 / sqrt(2).
    assert cells(three, "reddit") == ["0.720 ± 0.028", "-"]
    assert cells(three, "reddit, tuned") == ["0.800", "-"]
    assert cells(three, "bilstm max nli") == ["0.600", "-"]
    assert cells(three, "TF-IDF") == ["0.650", "-"]
    assert cells(three, "words of it") == ["0.550", "-"]
    assert cells(three, "word overlap") == ["0.600", "-"]
    assert cells(three, "Reddit (paper)") == ["0.762 [0.740, 0.782]", "-"]
    assert cells(table(text, "4"), "reddit")[:4] == ["0.720 ± 0.028", "-", "-", "0.600 ± 0.141"]
    assert cells(table(text, "1"), "reddit") == ["30.0", "40.0", "50.0"]
    assert cells(table(text, "1"), "word overlap") == ["10.0", "20.0", "25.0"]
    assert cells(table(text, "1"), "chance") == ["1.0", "3.0", "10.0"]
    assert cells(table(text, "2"), "reddit") == ["50.0"]
    assert "Labels of bilstm max nli are the module's own; those of other rows" in table(text, "2")
    assert "bilstm" not in table(text, "1")


def test_the_search_engine_is_no_module(results):
    six = table(page(results), "6").split("\n\n")
    (of_2016,) = [part for part in six if part.startswith("| 2016 ")]
    (of_2017,) = [part for part in six if part.startswith("| 2017 ")]
    assert cells(of_2016, "reddit")[0] == "65.00"
    assert cells(of_2016, "search engine")[0] == "70.00"
    assert cells(of_2016, "ceiling")[0] == "90.00"
    assert "reddit" not in of_2017
    assert cells(of_2017, "search engine")[0] == "40.00"
    assert cells(of_2017, "ceiling")[0] == "70.00"


def test_the_page_has_everything_and_no_texts(results, pairs, tmp_path, capsys):
    wrong = dataclasses.replace(
        scored("mistakes", "mistakes-sts-dev", mean_error=0.1),
        groups={"news": {"n": 3, "metrics": {"mean_error": -0.25}}},
        items=[{"sentence1": "somebody's words"}],
    )
    store.write(wrong, tmp_path / "wrong")
    seen = dataclasses.replace(
        scored("contamination", "contamination-sts-test", pearson=0.71),
        groups={"without pairs in training": {"n": 8, "metrics": {"pearson": 0.72}}},
        counts={"training_records": 9, "pairs_in_training": 2, "texts_in_training": 3},
    )
    store.write(seen, tmp_path / "leaks")
    for name in ("learned", "protocol", "ablations"):
        (tmp_path / f"{name}.md").write_text(f"## {name.capitalize()}\n\nSomething.\n")
    (tmp_path / "ablations.md").write_text("# Ablations\n\n## One\n")
    page = tmp_path / "RESULTS.md"
    asked = ["rows", "--results", results, "--pairs", pairs, "--mistakes", tmp_path / "wrong"]
    asked += ["--contamination", tmp_path / "leaks"]
    asked += ["--data_dir", "/some/where/"]
    for name in ("learned", "protocol", "ablations"):
        asked += [f"--{name}", tmp_path / f"{name}.md"]
    asked += ["--made_by", "make it", "--output", page]
    main([str(argument) for argument in asked])
    text = page.read_text()
    assert "`make it`, " in text
    assert "1,000 training pairs." in text
    assert "Seeds: bilstm max nli 0; reddit 0, 1.\n" in text
    assert f", {datetime.date.today():%-d %B %Y}. " in text
    assert cells(text, "150 pairs") == ["0.550", "-", "-"]
    assert cells(text, "news") == ["3", "-0.250"]
    overlap, scores = [line for line in text.splitlines() if line.startswith("| sts-test, Pearson")]
    assert [cell.strip() for cell in overlap.strip("|").split("|")][1:] == ["10", "2", "3"]
    assert [cell.strip() for cell in scores.strip("|").split("|")][1:] == ["0.710", "0.720", "-"]
    # The commands of the row that has most, its folder of data by another name.
    assert "    python -m evaluation cqa --data DIR/cqa-2017\n" in text
    assert "/some/where" not in text
    assert text.endswith("## Learned\n\nSomething.\n")
    assert "somebody" not in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["## Protocol", "## The paper's tables", "## Growth"]
    assert headings[-2:] == ["## Ablations", "## Learned"]
    assert "\n### One\n" in text
    assert "](RESULTS-growth.svg)" in text
    assert "600 million pairs are 600,000 times as many" in text
    assert (tmp_path / "RESULTS-growth.svg").read_text().startswith("<?xml")


def test_a_share_is_its_files(results, pairs):
    _, found = shares(read_runs(results), "growth")
    found = growth.points(found, of_files=markdown_page.training_pairs([pairs]))
    # By hand: the first file, the first three, all ten.
    assert [point.pairs for point in found] == [70, 150, 1000]
    assert growth.line(found, 0) is not None
    assert growth.line(found[:2], 0) is None


def test_rows_that_were_not_asked_for_are_not_shown(results):
    found = read_runs(results, ["reddit-1", "growth_10-0"])
    trained = [system for system in found if system.kind == OURS]
    assert [(row.label, row.seeds) for row in trained] == [("reddit", (1,)), ("growth 10", (0,))]
    with pytest.raises(InputError, match="reddit-7: no such folder"):
        read_runs(results, ["reddit-7"])


def test_the_day_is_that_of_the_rows_that_are_shown(results, pairs, tmp_path):
    for path in (results / "reddit-0").glob("*.json"):
        os.utime(path, (0, 0))
    contents = markdown_page.Contents(pairs=[pairs])
    page = tmp_path / "page.md"
    markdown_page.write(results, page, contents)
    assert "1 January 1970 to " in page.read_text()
    markdown_page.write(results, page, contents, runs=["reddit-1"])
    assert "1970" not in page.read_text()


def test_the_papers_examples_are_found_by_their_texts(tmp_path):
    pair = {
        "sentence1": "Microwave would be your best bet!",
        "sentence2": "Your best bet is research",
        "gold": 0.0,
        "genre": "main-forums",
    }
    for seed, score in ((0, -1.0), (1, -1.2)):
        one = dataclasses.replace(
            scored(name="sts-test", pearson=0.7), items=[pair | {"score": score}]
        )
        store.write(one, tmp_path / f"reddit-{seed}")
    text = markdown(paper_tables.table_5(read_runs(tmp_path)))
    (line,) = [line for line in table(text, "5").splitlines() if "microwave" in line]
    # By hand: the deviation of -1.0 and -1.2 is 0.2 / sqrt(2).
    assert [cell.strip() for cell in line.split("|")[2:5]] == ["0.0", "-1.23", "-1.100 ± 0.141"]


def test_the_papers_rows_of_table_6_stand_beside_its_test_set(tmp_path):
    own = "cqa-SemEval2017-Task3-CQA-QL-test"
    for system in ("module", "search_engine"):
        for one in (scored("cqa", own, system=system, map=0.4), scored("cqa", "cqa-x", map=0.3)):
            store.write(one, tmp_path / system / "reddit-0")
        six = table(page(tmp_path / system), "6")
        assert cells(six, "Reddit (paper)")[0] == "47.07"
        assert ("and no row of ours is: without the text" in six) == (system == "search_engine")
    other = dataclasses.replace(scored("cqa", own, map=0.4), n=87)
    store.write(other, tmp_path / "other" / "reddit-0")
    assert "(paper)" not in page(tmp_path / "other")


def test_a_folder_is_called_otherwise_in_commands_alone():
    page = "# On real data\n\n    x --data data/nli --pairs runs/data --d=data -m data_pipeline"
    assert with_data_as_dir("data/", page) == (
        "# On real data\n\n    x --data DIR/nli --pairs runs/data --d=DIR -m data_pipeline"
    )
    assert with_data_as_dir(".", "    a ./b c.d") == "    a DIR/b c.d"
    assert with_data_as_dir("", "    a b") == "    a b"


def test_bad_folders_are_named(tmp_path, results, pairs):
    with pytest.raises(InputError, match="nowhere: no such folder of results"):
        read_runs(tmp_path / "nowhere")
    with pytest.raises(InputError, match="NAME-SEED"):
        read_runs(pairs)
    asked = markdown_page.Contents(pairs=[pairs], mistakes=results / "reddit-0")
    with pytest.raises(InputError, match="accepted: what mistakes writes"):
        markdown_page.write(results, tmp_path / "page.md", asked)
    assert not (tmp_path / "page.md").exists()
    with pytest.raises(InputError, match="COMPLETED: no manifest of the pipeline"):
        markdown_page.training_pairs([results])
    (pairs / "COMPLETED").write_text('{"outputs": {}}')
    with pytest.raises(InputError, match=r"names no files train-\*"):
        markdown_page.training_pairs([pairs])


def test_files_of_one_number_are_counted_together(pairs, tmp_path):
    sizes = markdown_page.training_pairs([pairs])
    assert markdown_page.training_pairs([pairs, pairs]) == [2 * size for size in sizes]
    few = tmp_path / "few"
    few.mkdir()
    outputs = {"train-00000-of-00001.tfrecord": {"records": 3}}
    (few / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    with pytest.raises(InputError, match=r"few has 1 files train-\*, .*pairs has 10; the same"):
        markdown_page.training_pairs([pairs, few])
