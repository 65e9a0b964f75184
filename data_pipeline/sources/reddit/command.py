"""The Reddit job: dumps of comments in, pairs out.

python -m data_pipeline reddit --input 'dumps/RC_*.zst' --output pairs/ --runner=FlinkRunner
"""

from collections.abc import Sequence
from functools import partial

from data_pipeline.execution.job import JobResult
from data_pipeline.job.run import make_pairs
from data_pipeline.sources.reddit.options import RedditOptions, check

_DEFAULT = RedditOptions()


def run_reddit(
    inputs: Sequence[str],
    output: str,
    *,
    options: RedditOptions = _DEFAULT,
    overwrite: bool = False,
    beam_arguments: Sequence[str] = (),
) -> JobResult:
    """Makes input-response pairs of Reddit comment dumps, with an Apache Beam job.

    Args:
      inputs: file names or patterns of dumps, plain, .gz, .bz2, .xz or .zst.
      output: the folder to write.
      options: split, storage and filters; each has the name of its flag.
      overwrite: whether to replace the output of another job.
      beam_arguments: Beam's pipeline options, such as "--runner=FlinkRunner".

    Raises:
      InputError: if an input, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
    return make_pairs(
        inputs,
        output,
        prepare=partial(check, options),
        overwrite=overwrite,
        beam_arguments=beam_arguments,
    )
