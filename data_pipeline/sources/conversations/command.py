"""The jobs on anybody's conversations: tables of messages or of pairs in, pairs out.

python -m data_pipeline conversations --input 'chat/*.jsonl.gz' --output pairs/ \
    --id_field message_id --parent_field in_reply_to --text_field said
python -m data_pipeline pairs --input tickets.csv --output pairs/ \
    --input_field question --response_field answer
"""

from collections.abc import Sequence
from functools import partial

from data_pipeline.execution.job import JobResult
from data_pipeline.job.run import make_pairs
from data_pipeline.sources.conversations.options import (
    ConversationOptions,
    RowOptions,
    check_conversations,
    check_rows,
)


def run_conversations(
    inputs: Sequence[str],
    output: str,
    *,
    options: ConversationOptions,
    overwrite: bool = False,
    beam_arguments: Sequence[str] = (),
) -> JobResult:
    """Makes input-response pairs of tables of messages, with an Apache Beam job.

    Args:
      inputs: file names or patterns of JSON lines, CSV or TSV, plain, .gz, .bz2, .xz or .zst, or
        of Parquet.
      output: the folder to write.
      options: the names of the fields, and split, storage and rules; each has the name of its
        flag. Messages name their parent (`id_field`, `parent_field`), or each replies to the one
        before in its thread (`thread_field`, `order_field`).
      overwrite: whether to replace the output of another job.
      beam_arguments: Beam's pipeline options, such as "--runner=FlinkRunner".

    Raises:
      InputError: if an input, a field, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
    return make_pairs(
        inputs,
        output,
        prepare=partial(check_conversations, options),
        overwrite=overwrite,
        beam_arguments=beam_arguments,
    )


def run_pairs(
    inputs: Sequence[str],
    output: str,
    *,
    options: RowOptions,
    overwrite: bool = False,
    beam_arguments: Sequence[str] = (),
) -> JobResult:
    """Makes input-response pairs of tables with a pair in each row, with an Apache Beam job.

    Args:
      inputs: as for `run_conversations`.
      output: the folder to write.
      options: the names of the fields (`input_field`, `response_field`), and split, storage and
        rules; each has the name of its flag.
      overwrite: whether to replace the output of another job.
      beam_arguments: Beam's pipeline options, such as "--runner=FlinkRunner".

    Raises:
      InputError: if an input, a field, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
    return make_pairs(
        inputs,
        output,
        prepare=partial(check_rows, options),
        overwrite=overwrite,
        beam_arguments=beam_arguments,
    )
