"""The commands that make pairs: Reddit's dumps, tables of messages, or tables of pairs in.

python -m data_pipeline reddit --input 'dumps/RC_*.zst' --output pairs/ --runner=FlinkRunner
python -m data_pipeline conversations --input 'chat/*.jsonl.gz' --output pairs/ \
    --id_field message_id --parent_field in_reply_to --text_field said
python -m data_pipeline pairs --input tickets.csv --output pairs/ \
    --input_field question --response_field answer
"""

from collections.abc import Sequence

from data_pipeline.job.preview import preview
from data_pipeline.job.run import make_pairs
from data_pipeline.pairs.options import PairOptions


def main(options: PairOptions, beam_arguments: Sequence[str]) -> None:
    """Runs one of the commands, or shows what the first messages give."""
    if options.sample is not None:
        preview(options, beam_arguments=beam_arguments)
        return
    result = make_pairs(options, beam_arguments=beam_arguments)
    result.print(more=f"; {result.folder.rstrip('/')}/data_card.html describes it")
