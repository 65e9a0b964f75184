"""Text -> the tokens that the models see, without TensorFlow.

The rules are those of `model.text`, which applies them inside the graph; a test compares the two
character by character. They use different versions of Unicode: Python 3.11 has 14.0, TensorFlow's
regular expressions 15.0 and its normalization 16.0. So tokens differ in some 4,500 characters
added after 2021 (rare Han, ancient scripts), and in no others.
"""

import re
import sys
import unicodedata
from functools import cache
from itertools import groupby

BEGIN = b"<s>"
END = b"</s>"
"""The marks before and after a sentence; no token equals one, since `<` is a token of its own."""

_APOSTROPHES = re.compile("['’ʼ`‘]| \u0301")  # NFKC makes a space and an accent of U+00B4
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Unicode's Default_Ignorable_Code_Point, such as joiners of emoji, variation selectors and soft
hyphens: Unicode's NFKC_Casefold removes them, Python's case folding does not."""
_UNSEEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""RE2's `\\pC`, which is Unicode's category C without unassigned characters (Cn), and those of Z of
which NFKC makes no space; the last of these is U+1680."""


def tokenize(text: str | bytes) -> list[bytes]:
    """The tokens of a text: case folded, normalized, UTF-8; invalid UTF-8 becomes U+FFFD."""
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    unseen, symbol = _patterns()
    text = _APOSTROPHES.sub(" '", unseen.sub(" ", _fold(text)))
    text = symbol.sub(r" \g<0> ", text)
    # Bytes are split at ASCII white space only, as in TensorFlow.
    return text.encode().split()


def _fold(text: str) -> str:
    """Case folding and compatibility normalization, Unicode's NFKC_Casefold."""
    if text.isascii():
        return text.lower()
    normal = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFKC", _IGNORABLE.sub("", normal).casefold())


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What is not seen, and what is a symbol.

    Python's regular expressions have no categories, so the characters are listed.
    """
    ranges = _ranges_by_category()
    letters_numbers = "".join(part for category, part in ranges.items() if category[0] in "LN")
    marks = "".join(part for category, part in ranges.items() if category[0] == "M")
    unseen = "".join(ranges[category] for category in _UNSEEN)
    return re.compile(f"[{unseen}\u1680]+"), re.compile(f"[^{letters_numbers}{marks} ']")


def _ranges_by_category() -> dict[str, str]:
    """Category -> its characters, as in the brackets of a regular expression."""
    ranges: dict[str, str] = {}
    first = 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(sys.maxunicode + 1)))):
        end = first + sum(1 for _ in run)
        ranges[category] = ranges.get(category, "") + f"\\U{first:08x}-\\U{end - 1:08x}"
        first = end
    return ranges
