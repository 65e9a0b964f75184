"""Text -> the tokens that the models see, without TensorFlow.

The rules are those of `model.text`, which applies them inside the graph; a test compares the two
character by character. They use different versions of Unicode: Python 3.11 normalizes by 14.0 and
`regex` 2026.11 knows 17.0, TensorFlow's regular expressions 15.0 and its normalization 16.0. So
tokens differ in characters added after 2021 (rare Han, ancient scripts), and in no others.
"""

import unicodedata

import regex

BEGIN = b"<s>"
END = b"</s>"
"""The marks before and after a sentence; no token equals one, since `<` is a token of its own."""

_APOSTROPHES = regex.compile("['’ʼ`‘]| \u0301")  # NFKC makes a space and an accent of U+00B4
_IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
"""Such as joiners of emoji, variation selectors and soft hyphens: Unicode's NFKC_Casefold removes
them, Python's case folding does not."""
_UNSEEN = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u1680]+")
"""RE2's `\\pC`, which is Unicode's category C without unassigned characters (Cn), and those of Z of
which NFKC makes no space."""
_SYMBOL = regex.compile(r"[^\p{L}\p{N}\p{M} ']")


def tokenize(text: str | bytes) -> list[bytes]:
    """The tokens of a text: case folded, normalized, UTF-8; invalid UTF-8 becomes U+FFFD."""
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    seen: str = _APOSTROPHES.sub(" '", _UNSEEN.sub(" ", _fold(text)))
    # Bytes are split at ASCII white space only, as in TensorFlow.
    return _SYMBOL.sub(r" \g<0> ", seen).encode().split()


def _fold(text: str) -> str:
    """Case folding and compatibility normalization, Unicode's NFKC_Casefold."""
    if text.isascii():
        return text.lower()
    normal = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFKC", _IGNORABLE.sub("", normal).casefold())
