"""Table 2 where folds diverged."""

from model.sts_regression.results import table


def of_row(row, metrics, *, diverged=0, alike=0):
    return {
        "n": 24,
        "metrics": metrics,
        "intervals": {},
        "baselines": {},
        "counts": {
            "folds_that_diverged": diverged,
            "folds_without_a_correlation": alike,
            "pairs_held_out_with_a_sentence_that_trains": 3,
            "words": 90,
            "words_without_vector": 2,
        },
        "settings": {
            "folds": 1,
            "folds_by": "own_split",
            "weights_between_folds": "fresh",
            "label": row,
            "epochs": 5,
            "epoch_share": 0.1,
            "units": 0,
            "learning_rate": 1e-4,
            "gates": "printed",
            "padding": "masked",
            "clip_norm": 0.0,
            "seed": 0,
        },
        "items": [{"pairs_held_out": 6}],
        "data": {
            "word_vectors": "glove.txt",
            "word_dim": 50,
            "tests": {"sts-test": {"pairs": 7, "pairs_with_a_sentence_that_trains": 1}},
        },
        "seconds": 1.0,
    }


def test_a_row_that_diverged_hides_nothing_of_the_others():
    scores = {"pearson": 0.5, "pearson_in_sample": 0.9, "pearson_sts-test": 0.25, "mse": 1.0}
    nothing = {"pearson": None, "pearson_in_sample": None}
    made = table.markdown([of_row("first", nothing, diverged=1), of_row("second", scores)])
    assert "sts-test, 95%" in made
    (line,) = (line for line in made.splitlines() if line.startswith("| second"))
    assert [cell.strip() for cell in line.split("|")[2:7]] == [
        *["0.5000", "0.9000", "1.0000", "-", "0.2500"],
    ]
    assert "first (1 of 1 folds diverged)" in made
    assert (
        "3 of the 6 pairs held out share a sentence with a training pair; of sts-test, 1 of 7."
        in made
    )
    assert "glove.txt, 50 numbers" in made
    assert "gates: printed; padding: masked; gradient norm clipped at: nothing" in made


def test_a_row_that_scores_all_pairs_alike_is_told_from_one_that_diverged():
    nothing = {"pearson": None, "pearson_in_sample": 0.2, "mse": 2.5}
    made = table.markdown([of_row("first", nothing, alike=1)])
    assert "first (1 of 1 folds score all pairs alike)" in made
