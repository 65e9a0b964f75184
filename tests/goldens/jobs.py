"""Jobs whose output must stay the same, byte for byte, and a program that records it.

    python -m tests.goldens.jobs          # writes checksums.json

Jobs on the generated sample run everywhere; those on real data where CONVERSATIONS_DATA names it.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
CHECKSUMS = Path(__file__).with_name("checksums.json")

REDDIT = "reddit --input {world}/reddit/RC_*"
IRC = (
    "conversations --input {data}/conversations/ubuntu_irc.jsonl.gz "
    "--id_field message_id --parent_field in_reply_to --text_field said"
)
DIALOGUES = (
    "conversations --input {data}/conversations/self_dialogue.csv.gz "
    "--thread_field dialogue --order_field turn --text_field text"
)
MONTHS = "reddit --input {data}/reddit/RC_200* {data}/reddit/RC_2019-01.zst"
JOBS = {
    "sample": "sample --comments 6000",
    "reddit": REDDIT,
    "reddit_context": REDDIT + " --context_turns 2 --validation_fraction 0.1",
    "reddit_jsonl_by_pair": REDDIT + " --format jsonl --split_by pair",
    "reddit_parquet_excluded": REDDIT + " --format parquet --exclude_texts {world}/stsb/*.csv "
    "--max_copies_of_pair 1",
    "reddit_halves": REDDIT + " --pairs_of halves",
    "snli": "snli --input {world}/nli/snli_1.0_train.jsonl",
    "vocabulary": "vocabulary --input {reddit}/train-*",
    "months": MONTHS,
    "months_context": MONTHS + " --context_turns 1 --test_fraction 0.2",
    "months_in_three_shards": MONTHS + " --train_shards 3 --records_per_file 2000",
    "irc": IRC + " --thread_field day --author_field nick --context_turns 1",
    "dialogues": DIALOGUES + " --validation_fraction 0.05",
}


def run_jobs(folder: Path, *, data: str | None) -> dict:
    """Runs every job; returns the checksums that each gives for its files."""
    found: dict[str, dict[str, str]] = {}
    places = {"world": folder / "sample", "reddit": folder / "reddit", "data": data}
    for name, job in JOBS.items():
        if "{data}" in job and not data:
            continue
        words = shlex.split(job.format(**places))
        subprocess.run(
            [sys.executable, "-m", "data_pipeline", *words, "--output", str(folder / name)],
            cwd=REPOSITORY,
            check=True,
            capture_output=True,
        )
        found[name] = checksums(folder / name)
    return found


def checksums(folder: Path) -> dict[str, str]:
    """The checksums in a folder's COMPLETED; of the sample, which has none, those of its files."""
    if (folder / "COMPLETED").exists():
        outputs = json.loads((folder / "COMPLETED").read_text())["outputs"]
        # Dead letters name the folder that the job was run in.
        return {
            name: about["crc32c"]
            for name, about in sorted(outputs.items())
            if not name.startswith("dead_letters")
        }
    import google_crc32c

    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): f"{google_crc32c.value(path.read_bytes()):08x}"
        for path in files
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        found = run_jobs(Path(scratch), data=os.environ.get("CONVERSATIONS_DATA"))
    CHECKSUMS.write_text(json.dumps(found, indent=1) + "\n")
