"""A fixed baseline for the pipeline: Zstandard, orjson and the paper's rules, in a plain loop.

    python -m benchmarks.plain_loop RC_2015-02.zst ...

The least that a straightforward program does with a dump, on one core: decompress, parse each
line, judge each comment. It imports nothing of the product and stays as it is, so that figures
relative to it can be compared over time.
"""

import html
import sys
from operator import itemgetter

import orjson
from backports import zstd

WINDOW = {zstd.DecompressionParameter.window_log_max: 31}
FIELDS = ("id", "parent_id", "link_id", "subreddit", "author", "body")
MAX_CHARACTERS = 350
MIN_PERCENT_LETTERS = 70
PREFIXES = ("https", "/r/", "@")
NOTHING_LEFT = frozenset(("", "[deleted]", "[removed]"))
ASCII_BUT_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
get_fields = itemgetter(*FIELDS)


def main() -> None:
    """Prints how many comments of the dumps are kept."""
    kept = 0
    for path in sys.argv[1:]:
        with zstd.open(path, options=WINDOW) as stream:
            for line in stream:
                kept += is_kept(*parse(line))
    print(f"{kept:,} kept")


def parse(line: bytes) -> tuple[str, str]:
    """The author and the text of a comment; a field that is not a string is an error."""
    fields = orjson.loads(line)
    own_id, parent, thread, subreddit, author, body = get_fields(fields)
    kinds = type(own_id), type(parent), type(thread), type(subreddit), type(author), type(body)
    if kinds != (str,) * len(FIELDS):
        raise ValueError(f"{line[:200]!r} is not a comment")
    get = fields.get
    comment = (
        own_id.removeprefix("t1_"),
        parent.removeprefix("t1_") if parent.startswith("t1_") else None,
        thread,
        subreddit,
        author,
        html.unescape(body).strip(),
        get("created_utc"),
        get("score"),
    )
    return comment[4], comment[5]


def is_kept(author: str, text: str) -> bool:
    """Whether no rule of Yang et al. 2018, section 3, drops the comment."""
    return not any(
        (
            text in NOTHING_LEFT,
            len(text) >= MAX_CHARACTERS,
            has_few_letters(text),
            text.startswith(PREFIXES),
            "bot" in author.lower(),
        )
    )


def has_few_letters(text: str) -> bool:
    """Whether its letters are `MIN_PERCENT_LETTERS` of its characters or less."""
    if text.isascii():
        letters = len(text.encode().translate(None, ASCII_BUT_LETTERS))
    else:
        letters = sum(map(str.isalpha, text))
    return 100 * letters <= MIN_PERCENT_LETTERS * len(text)


if __name__ == "__main__":
    main()
