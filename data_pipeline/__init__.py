"""Reddit dumps, any conversations and NLI files in, TFRecords of pairs out.

Each name below is what a command of `python -m data_pipeline` calls:

>>> import data_pipeline, tempfile
>>> folder = tempfile.mkdtemp()
>>> data_pipeline.write_sample(
...     data_pipeline.SampleOptions(output=f"{folder}/world", comments=300, seed=1)
... )
>>> result = data_pipeline.make_pairs(
...     data_pipeline.RedditOptions(
...         input=(f"{folder}/world/reddit/RC_*",), output=f"{folder}/pairs", train_shards=1
...     )
... )
>>> result.statistics["lines"], result.statistics["pairs"]
(301, 184)
>>> pair = next(data_pipeline.read_pairs(f"{folder}/pairs/train-*"))
>>> sorted(pair)
['input', 'input_id', 'response', 'response_id', 'subreddit', 'thread_id']
>>> counted = data_pipeline.count_vocabulary(
...     data_pipeline.VocabularyOptions(
...         input=(f"{folder}/pairs/train-*",), output=f"{folder}/words"
...     )
... )
>>> counted.statistics["texts"] == 2 * counted.statistics["records"]
True
>>> nli = data_pipeline.run_snli(
...     data_pipeline.SnliOptions(input=(f"{folder}/world/nli/*dev*",), output=f"{folder}/nli")
... )
>>> nli.statistics["labels"]["neutral"]
103
>>> data_pipeline.tokenize("It's 5 o'clock!")
[b'it', b"'s", b'5', b'o', b"'clock", b'!']
"""

from common import deferred

_PUBLIC = {
    "write_sample": "data_pipeline.sample.command",
    "SampleOptions": "data_pipeline.options",
    "make_pairs": "data_pipeline.job.run",
    "RedditOptions": "data_pipeline.sources.reddit.options",
    "ConversationOptions": "data_pipeline.sources.tables.options",
    "RowOptions": "data_pipeline.sources.tables.options",
    "run_snli": "data_pipeline.snli",
    "SnliOptions": "data_pipeline.options",
    "count_vocabulary": "data_pipeline.vocabulary.command",
    "VocabularyOptions": "data_pipeline.options",
    "tokenize": "data_pipeline.vocabulary.tokenizer",
    "read_pairs": "data_pipeline.pairs.reader",
    "InputError": "common.errors",
}
"""Public names, and where they are defined."""
__all__ = list(_PUBLIC)
__getattr__ = deferred(__name__, _PUBLIC)
