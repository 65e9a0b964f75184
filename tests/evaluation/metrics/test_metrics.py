"""Every golden here is worked out by hand in its comment."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.stats

from evaluation.metrics import metrics


def labels(text):
    return np.array([letter == "+" for letter in text])


def test_pearson_by_hand():
    # x - mean = (-1, 0, 1), y - mean = (-2, 1, 1): 3 / sqrt(2 * 6).
    assert metrics.pearson(np.array([1, 2, 3]), np.array([1, 4, 4])) == pytest.approx(3 / 12**0.5)


@pytest.mark.parametrize("figure", [metrics.pearson, metrics.spearman])
def test_two_close_points_are_enough_for_a_correlation(figure):
    assert figure(np.array([0.1, 0.2]), np.array([0.3, 0.4])) == pytest.approx(1)
    assert figure(np.array([0.1, 0.2]), np.array([0.4, 0.3])) == pytest.approx(-1)


def test_spearman_gives_ties_their_mean_rank():
    # Ranks (1, 2, 3) and (1, 2.5, 2.5): 1.5 / sqrt(2 * 1.5). On evenly spaced values Pearson's r
    # would be the same; the 100 keeps the two apart.
    x, y = np.array([1, 2, 100]), np.array([1, 4, 4])
    assert metrics.spearman(x, y) == pytest.approx(1.5 / 3**0.5)
    assert metrics.pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y)[0])
    assert abs(metrics.pearson(x, y) - metrics.spearman(x, y)) > 0.1


@pytest.mark.parametrize("figure", [metrics.pearson, metrics.spearman])
def test_correlation_is_nan_where_undefined(figure):
    assert np.isnan(figure(np.array([1.0, 1.0]), np.array([1.0, 2.0])))
    assert np.isnan(figure(np.array([1.0, 2.0]), np.array([3.0, 3.0])))
    assert np.isnan(figure(np.array([1.0]), np.array([2.0])))
    with pytest.raises(ValueError, match="2 predicted scores for 3 gold"):
        figure(np.zeros(2), np.zeros(3))


def test_precision_at():
    ranks = np.array([1, 2, 3, 4, 10, 11])
    assert metrics.precision_at(ranks, 1) == pytest.approx(1 / 6)
    assert metrics.precision_at(ranks, 3) == pytest.approx(3 / 6)
    assert metrics.precision_at(ranks, 10) == pytest.approx(5 / 6)


def test_ties_keep_file_order():
    assert metrics.ranked([1, 2, 2, 1], [True, True, False, False]).tolist() == [
        True,
        False,
        True,
        False,
    ]
    # An unstable sort goes wrong only on longer lists.
    places = np.arange(100)
    many = metrics.ranked(places % 2, places % 3 == 0)
    assert many.tolist() == [i % 3 == 0 for i in [*range(1, 100, 2), *range(0, 100, 2)]]


def test_labels_may_be_numbers():
    found = metrics.ranked([1, 2], [0, 1])
    assert found.dtype == bool
    assert found.tolist() == [True, False]
    # Of two that are said to be relevant one is, which is the only one.
    assert metrics.classification([1.0, 1.0, 0.0], [1.0, 0.0, 0.0]) == pytest.approx(
        {"precision": 1 / 2, "recall": 1, "f1": 2 / 3, "accuracy": 2 / 3}
    )
    # The one that is said to be relevant is, and so is another.
    assert metrics.classification([1.0, 0.0, 0.0], [1.0, 1.0, 0.0]) == pytest.approx(
        {"precision": 1, "recall": 1 / 2, "f1": 2 / 3, "accuracy": 2 / 3}
    )


def test_accuracy_by_hand():
    assert metrics.accuracy([0, 2, 1], [0, 1, 1]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="2 predicted labels for 3 gold labels"):
        metrics.accuracy([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="0 predicted labels for 0 gold labels"):
        metrics.accuracy([], [])


def test_map_by_hand():
    # +-+: (1/1 + 2/3) / 2 = 5/6; -+: 1/2; mean 2/3.
    assert metrics.mean_average_precision([labels("+-+"), labels("-+")]) == pytest.approx(2 / 3)


def test_queries_without_a_relevant_candidate_stay_in_the_mean():
    rankings = [labels("+--"), labels("---"), labels("-+-"), labels("---")]
    assert metrics.mean_average_precision(rankings) == pytest.approx((1 + 0.5) / 4)
    assert metrics.mean_reciprocal_rank(rankings) == pytest.approx((1 + 0.5) / 4)


def test_lists_are_cut_at_ten():
    eleventh = labels("----------+")
    assert metrics.mean_average_precision([eleventh]) == 0
    assert metrics.mean_reciprocal_rank([eleventh]) == 0
    assert metrics.mean_reciprocal_rank([labels("---------++")]) == pytest.approx(0.1)
    # The one at 11 counts neither as found nor, in MAP, as missed: (1/1) / 1.
    assert metrics.mean_average_precision([labels("+---------+")]) == 1


def test_average_recall_pools_over_queries():
    # Relevant: 2 and 1. Hits@k over both: 1, 2, then 3; most possible: 2, then 3.
    # The mean over queries of recall at k would be (0.5 + 0.5 + 8 + 0 + 9) / 20 instead.
    rankings = [labels("+-+"), labels("-+-")]
    assert metrics.average_recall(rankings) == pytest.approx((1 / 2 + 2 / 3 + 8) / 10)


def test_average_recall_without_anything_relevant():
    assert metrics.average_recall([labels("--"), labels("-")]) == 0


def test_metrics_import_no_tensorflow():
    code = (
        "import sys; from evaluation.metrics import metrics; from evaluation.report import report; "
        "from evaluation.tasks import cqa, response_ranking, sts; import evaluation.__main__; "
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def gold_and_predictions(folder):
    name = "SemEval2016-Task3-CQA-QL-dev.xml.subtaskB"
    both = []
    for suffix in ("relevancy", "pred"):
        rows = [line.split("\t") for line in (folder / f"{name}.{suffix}").read_text().splitlines()]
        both.append(rows)
    assert [row[:2] for row in both[0]] == [row[:2] for row in both[1]]
    return both


def test_random_baseline_to_the_last_printed_digit(real_data):
    gold, predicted = gold_and_predictions(real_data / "semeval_cqa" / "2016_dev")
    queries = {}
    for row, prediction in zip(gold, predicted, strict=True):
        queries.setdefault(row[0], []).append((float(prediction[3]), row[4] == "true"))
    rankings = [metrics.ranked(*zip(*rows, strict=True)) for rows in queries.values()]
    printed = (real_data / "semeval_cqa" / "docs" / "random_baselines_MAP.txt").read_text()
    section = printed[printed.index("dev.xml.subtaskB.pred") :]
    expected = [
        section[section.index(label) :].split("\n")[0].split()[-1]
        for label in ("MAP   :", "AvgRec:", "MRR   :")
    ]
    found = [
        f"{metrics.mean_average_precision(rankings):.4f}",
        f"{metrics.average_recall(rankings):.4f}",
        f"{100 * metrics.mean_reciprocal_rank(rankings):.2f}",
    ]
    assert found == expected == ["0.5595", "0.7323", "62.23"]


def test_errors_are_distances_from_the_fitted_line():
    # By hand: through (0, 0), (1, 2), (2, 1) the best line is 0.5 + 0.5 x.
    found = metrics.line_errors(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0]))
    assert found == pytest.approx([0.5, -1.0, 0.5])
    # Ten times closer: 0.5 + 5 x.
    close = metrics.line_errors(np.array([0.0, 0.1, 0.2]), np.array([0.0, 2.0, 1.0]))
    assert close == pytest.approx([0.5, -1.0, 0.5])
    same = metrics.line_errors(np.array([3.0, 3.0]), np.array([1.0, 5.0]))
    assert same == pytest.approx([2.0, -2.0])
