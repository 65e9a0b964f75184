import numpy as np
import pytest

from common.errors import InputError
from evaluation.data.ranking_files import Pair
from evaluation.probes import linear_map


class Turned:
    """A word has a random vector; as a response, the numbers of the vector stand in reverse."""

    path = "turned"

    def encode_inputs(self, sentences):
        rows = [np.random.default_rng(int(text)).standard_normal(8) for text in sentences]
        return np.array(rows, dtype=np.float32)

    def encode_responses(self, sentences):
        return self.encode_inputs(sentences)[:, ::-1]

    def provenance(self):
        return {"path": self.path, "fingerprint": "f", "pretrained": True}


def pairs(numbers):
    return [Pair(str(n), str(n), f"i{n}", f"r{n}") for n in numbers]


@pytest.mark.slow
def test_the_map_finds_what_turns_inputs_into_responses():
    encoder = linear_map.LinearMap(Turned(), pairs(range(2000)), pairs(range(5000, 5100)))
    encoder.fit(["1"])
    found = encoder.provenance()
    assert found["path"] == "turned mapped"
    assert found["pretrained"]
    assert found["about"].startswith("rate 0.01, penalty 0")
    assert "on 2,000 pairs; P@1 of 100 on 100 validation pairs" in found["about"]
    unseen = [str(n) for n in range(9000, 9100)]
    scores = encoder.encode_inputs(unseen) @ encoder.encode_responses(unseen).T
    plain = Turned().encode_inputs(unseen) @ Turned().encode_responses(unseen).T
    right = np.arange(100)
    assert np.mean(scores.argmax(axis=1) == right) > 0.9
    assert np.mean(plain.argmax(axis=1) == right) < 0.1


def test_without_a_gain_on_validation_pairs_the_map_changes_nothing(monkeypatch):
    monkeypatch.setattr(linear_map, "LEARNING_RATES", (1e-2,))
    monkeypatch.setattr(linear_map, "PENALTIES", (0.0,))

    class Same(Turned):
        encode_responses = Turned.encode_inputs

    learned = linear_map.LinearMap(Same(), pairs(range(100)), pairs(range(5000, 5100))).fit([])
    assert not learned.weights.any()
    assert learned.about.startswith("W is 0, on 100 pairs; P@1 of 100 on 100 validation pairs 1.0")


def test_few_pairs_are_refused():
    with pytest.raises(InputError, match="99 training"):
        linear_map.LinearMap(Turned(), pairs(range(99)), pairs(range(100)))
    with pytest.raises(InputError, match="99 validation"):
        linear_map.LinearMap(Turned(), pairs(range(100)), pairs(range(99)))
