"""Scores any sentence-embedding SavedModel on the paper's tasks and writes the report.

    python -m evaluation sts --module module/ --data stsb/ --output results/

or, from Python, what the commands use themselves:

    >>> from evaluation import compare, evaluate, load_encoder, read_results, write_report
    >>> encoder = load_encoder("module")
    >>> rows = encoder.encode(["How old are you?", "What is your age?"])  # float32 [2, dim]
    >>> (dev,) = evaluate(encoder, "sts", "stsb/sts-dev.csv", output="results")
    >>> dev.name, sorted(dev.metrics), sorted(dev.intervals) == sorted(dev.metrics)
    ('sts-dev', ['cosine_pearson', 'pearson', 'spearman'], True)
    >>> [result.n for result in read_results("results")] == [dev.n]
    True
    >>> write_report("results", "report.html").name
    'report.html'

Of two modules on the same data, or here of a module and the word overlap of the pairs:

    >>> pearson, spearman = compare(dev, dev, system_b="word_overlap")
    >>> pearson.difference == pearson.b - pearson.a
    True

The metrics are functions of NumPy arrays:

    >>> from evaluation import average_precision, pearson
    >>> float(pearson([1.0, 2.0, 3.0], [1.0, 4.0, 4.0]).round(3))
    0.866
    >>> average_precision([True, False, True])  # (1/1 + 2/3) / 2
    0.8333333333333333
"""

from common import deferred

_PUBLIC = {
    "InputError": "common.errors",
    "RetrievalFiles": "evaluation.data.retrieval_files",
    "Result": "evaluation.results.result",
    "average_precision": "evaluation.metrics.ranking",
    "compare": "evaluation.analysis.paired_test",
    "evaluate": "evaluation.tasks",
    "load_encoder": "evaluation.encoders",
    "pearson": "common.statistics",
    "read_results": "evaluation.results.store",
    "spearman": "common.statistics",
    "write_report": "evaluation.report.pages",
}
__all__ = list(_PUBLIC)
__getattr__ = deferred(__name__, _PUBLIC)
