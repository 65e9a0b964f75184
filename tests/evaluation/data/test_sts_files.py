import pytest

from evaluation.data import sts_files
from evaluation.errors import InputError
from evaluation.tasks import sts

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
FULL_SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    "1\ta b\tc d\tNEUTRAL\t4.5\tTRAIN\n2\te f\tg h\tNEUTRAL\t3.3\tTEST\n"
)


def read(path):
    (source,) = sts_files.find(path)
    return sts_files.read(source)


@pytest.fixture
def year(write_text, tmp_path):
    """Two data sets of a year: one with source notes and an unjudged pair, one packed."""
    write_text("2016/STS2016.input.news.txt", "a b\tc d\tnote\tnote\ne\tf\tn\tn\ng\th\tn\tn\n")
    write_text("2016/STS2016.gs.news.txt", "5\n\n1.5\n")
    write_text("2016/STS2016.input.plagiarism.txt.gz", "i\tj\nk k\tl\nm\tn n\n")
    write_text("2016/STS2016.gs.plagiarism.txt", "0\n2\n4\n")
    write_text("2016/readme.txt", "nothing")
    return tmp_path / "2016"


def test_a_semeval_year_is_one_source(year):
    (source,) = sts_files.find(year)
    assert source.name == "sts-2016"
    assert [path.name for path in source.files] == [
        *("STS2016.input.news.txt", "STS2016.gs.news.txt"),
        *("STS2016.input.plagiarism.txt.gz", "STS2016.gs.plagiarism.txt"),
    ]
    data = sts_files.read(source)
    assert [(p.genre, p.gold, p.sentence1, p.sentence2) for p in data.pairs] == [
        ("news", 5.0, "a b", "c d"),
        ("news", 1.5, "g", "h"),
        ("plagiarism", 0.0, "i", "j"),
        ("plagiarism", 2.0, "k k", "l"),
        ("plagiarism", 4.0, "m", "n n"),
    ]
    assert (data.unjudged, data.sets) == (1, True)


def test_a_file_that_is_there_twice_is_refused(year, write_text):
    write_text("2016/STS2016.input.news.txt.gz", "a b\tc d\tnote\tnote\n")
    said = r"news.txt.gz: the same data as STS2016.input.news.txt; keep one of them"
    with pytest.raises(InputError, match=said):
        sts_files.find(year)


def test_one_data_set_of_a_year(year):
    data = read(year / "STS2016.input.news.txt")
    assert (data.name, len(data.pairs), data.sets) == ("sts-STS2016.input.news", 2, False)


def test_the_mean_of_sets_is_weighted_by_pairs(year, word_encoder):
    result = sts.evaluate(word_encoder, read(year))
    rs = [result.groups[name]["metrics"]["pearson"] for name in ("news", "plagiarism")]
    assert result.metrics["mean_of_sets"] == pytest.approx((2 * rs[0] + 3 * rs[1]) / 5)
    assert result.counts["unjudged_pairs"] == 1


def test_scored_tables(write_text, tmp_path):
    write_text("sets/answers.test.tsv", "4\ta b\tc d\n\tnobody judged\tthis\n")
    write_text("sets/headlines.test.tsv", '1.25\t"e\tf\n')
    data = read(tmp_path / "sets")
    assert [(p.genre, p.gold) for p in data.pairs] == [("answers", 4.0), ("headlines", 1.25)]
    assert data.pairs[1].sentence1 == '"e'
    assert data.unjudged == 1


def test_sick_with_and_without_its_splits(write_text):
    rows = "1\ta b\tc d\t4.5\tNEUTRAL\n2\te f\tg h\t1\tENTAILMENT\n"
    part = read(write_text("SICK_test_annotated.txt", SICK + rows))
    assert part.name == "sts-SICK_test_annotated"
    assert [(p.genre, p.gold, p.sentence2) for p in part.pairs] == [
        ("SICK", 4.5, "c d"),
        ("SICK", 1.0, "g h"),
    ]
    whole = read(write_text("SICK.txt", FULL_SICK))
    assert [(p.genre, p.gold) for p in whole.pairs] == [("TRAIN", 4.5), ("TEST", 3.3)]


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("a.tsv", "1\ta\tb\n2\tonly one\n", "a.tsv:2: 2 columns"),
        ("a.tsv", "1\ta\tb\nhigh\ta\tb\n", "a.tsv:2: score is 'high'"),
        ("SICK.txt", "1\ta\tb\t4\tNEUTRAL\n", "SICK.txt:1: .* no column sentence_A"),
        ("SICK.txt", SICK + "1\ta\tb\n", "SICK.txt:2: 3 columns; the first line names 5"),
        ("SICK.txt", SICK + "1\ta\tb\t6\tNEUTRAL\n", "SICK.txt:2: score is '6'"),
        ("x.input.y.txt", "a\tb\n", "its scores are missing, x.gs.y.txt"),
    ],
)
def test_malformed_rows_name_file_and_line(write_text, name, text, named):
    with pytest.raises(InputError, match=named):
        read(write_text(name, text))


def test_scores_must_fit_the_sentences(year, write_text):
    write_text("2016/STS2016.gs.news.txt", "5\n1\n")
    with pytest.raises(InputError, match=r"2 scores for the 3 lines of STS2016\.input\.news\.txt"):
        read(year)
    write_text("2016/STS2016.gs.news.txt", "5\n9\n1\n")
    with pytest.raises(InputError, match=r"gs\.news\.txt:2: score is '9'"):
        read(year)


@pytest.mark.parametrize("name", ["pairs-tuned.tsv", "pairs-in-context.tsv"])
def test_a_name_of_a_further_result_is_refused(write_text, name):
    end = r"pairs-(tuned|in-context)"
    with pytest.raises(
        InputError, match=rf"{name}: its result would be called sts-{end}; accepted: files whose"
    ):
        sts_files.find(write_text(name, "5\ta\tb\n"))


def test_train_stands_beside(write_text, tmp_path):
    dev = write_text("sts-dev.csv", "")
    with pytest.raises(InputError, match=r"no sts-train\.csv"):
        sts_files.train_of(dev)
    train = write_text("sts-train.csv.gz", "")
    assert sts_files.train_of(dev).files == sts_files.train_of(tmp_path).files == (train,)


def test_repeats_and_conflicts_are_counted(write_text, word_encoder):
    row = "main-news\tf\t2012\t1\t{}\t{}\t{}\n"
    text = row.format(5, "A dog.", "a cat") + row.format(5, "a cat", "a DOG")  # the same, turned
    text += row.format(2, "x y", "z") + row.format(3, "x y!", "z") + row.format(1, "p", "q")
    result = sts.evaluate(word_encoder, read(write_text("sts-dev.csv", text)))
    assert result.counts["duplicate_pairs"] == 2
    assert result.counts["conflicting_pairs"] == 2
    assert any("5 pairs here and 1,500 in the STS Benchmark" in note for note in result.notes)


def test_real_sets(real_data, word_encoder):
    for folder, expected in (
        ("sts2016", {"answer-answer": 254, "headlines": 249, "plagiarism": 230}),
        ("sts2017_track5", {"track5.en-en.rebuilt": 250}),
    ):
        result = sts.evaluate(word_encoder, read(real_data / folder))
        counts = {name: group["n"] for name, group in result.groups.items()}
        assert counts | expected == counts
    for name, counts in sts_files.OFFICIAL_COUNTS.items():
        result = sts.evaluate(word_encoder, read(real_data / "stsb" / f"{name}.csv"))
        assert {genre: group["n"] for genre, group in result.groups.items()} == counts
        assert result.notes == []


def test_texts_without_words_are_told_apart_by_their_marks(write_text, word_encoder):
    row = "main-news\tf\t2012\t1\t{}\t{}\t{}\n"
    text = row.format(5, "😀", "👍") + row.format(0, "!!", "...") + row.format(1, "p", "q")
    found = sts.evaluate(word_encoder, read(write_text("sts-dev.csv", text)))
    assert (found.counts["duplicate_pairs"], found.counts["conflicting_pairs"]) == (0, 0)


def test_a_number_as_python_writes_it_is_no_score(write_text):
    with pytest.raises(InputError, match="score is '0_4'; a number from 0 to 5 is accepted"):
        read(write_text("a.tsv", "5\ta\tb\n0_4\tc\td\n"))
