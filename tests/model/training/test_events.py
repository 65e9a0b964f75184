"""What TensorBoard shows of a run."""

import numpy as np


def test_every_loop_says_how_training_goes(reddit_run, events):
    found = events(reddit_run / "train")
    names = {"training_loss", "p_at_1", "p_at_3", "p_at_10", "norm/gradient"}
    assert found.keys() >= names | {"learning_rate", "pairs_per_second", "steps_per_second"}
    for values in found.values():
        assert list(values) == [20, 40, 60]
        assert np.isfinite(list(values.values())).all()
    assert found["training_loss"][60] < found["training_loss"][20]
    assert found["p_at_1"][60] > found["p_at_1"][20]
    np.testing.assert_allclose(list(found["learning_rate"].values()), 0.05, rtol=1e-6)
    assert min(found["pairs_per_second"].values()) > 0
    assert min(found["norm/gradient"].values()) > 0
    found = events(reddit_run / "validation")
    assert found.keys() == {"validation_loss", "p_at_1", "p_at_3", "p_at_10", "sts_dev_pearson"}
    assert all(list(values) == [20, 40, 60] for values in found.values())
