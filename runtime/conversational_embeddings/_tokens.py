"""Text to tokens, as the TensorFlow module's text handling makes them.

Unicode's NFKC_Casefold; then runs of letters, marks and digits, an apostrophe with what follows it,
and each other visible character are a token. Both follow the Unicode version of the interpreter.
"""

from __future__ import annotations

import re
import unicodedata

LOOKED_AT = 64
"""Characters of a long text that are read for each of the most tokens."""
_ASCII_TOKEN = re.compile(r"'?[a-z0-9]+|[!-~]")
_WHITE_SPACE = " \t\n\f\r"
"""Unicode's other white space folds to a space, or is not seen."""
_WHITE_SPACES = re.compile(f"[{_WHITE_SPACE}]+")
_IGNORABLE = frozenset(
    code
    for first, last in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
        (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
        (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8),
        (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for code in range(first, last + 1)
)  # fmt: skip
"""Unicode's Default_Ignorable_Code_Point, which the standard library lacks."""
_APOSTROPHES = "'’ʼ`‘"
_APOSTROPHE_OF_ACCENT = " \u0301"  # NFKC makes it of the accent U+00B4
_REPLACEMENT = "\ufffd"


class _Folded(dict[int, str]):
    """NFKC_Casefold of each character (Unicode, section 3.13, R5), filled when it is met."""

    def __missing__(self, code: int) -> str:
        character = _REPLACEMENT if 0xD800 <= code < 0xE000 else chr(code)
        while True:
            kept = "".join(one for one in character if ord(one) not in _IGNORABLE)
            folded = unicodedata.normalize("NFKC", kept.casefold())
            if folded == character:
                self[code] = folded
                return folded
            character = folded


class _Separated(dict[int, str]):
    """White space for what is not seen, and before each apostrophe."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _APOSTROPHES:
            character = " '"
        elif character not in _WHITE_SPACE:
            is_seen = unicodedata.category(character) not in ("Cc", "Cf", "Co", "Zl", "Zp")
            character = character if is_seen and character != "\u1680" else " "
        self[code] = character
        return character


class _Alone(dict[int, str]):
    """White space around each character that is in no word."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        in_words = unicodedata.category(character)[0] in "LMN" or character in f"'{_WHITE_SPACE}"
        self[code] = character if in_words else f" {character} "
        return self[code]


_folded, _separated, _alone = _Folded(), _Separated(), _Alone()


def tokens(text: str, most: int) -> list[str]:
    """The first tokens of a text.

    Args:
      text: any string; lone surrogates count as U+FFFD.
      most: how many tokens are kept.
    """
    bytes_at_most = most * LOOKED_AT
    if len(text) * 4 > bytes_at_most and len(text.encode(errors="replace")) > bytes_at_most:
        text = _WHITE_SPACES.sub(" ", text)[:bytes_at_most]
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower().replace("`", "'"))[:most]
    folded = unicodedata.normalize("NFC", text.translate(_folded))
    separated = folded.translate(_separated).replace(_APOSTROPHE_OF_ACCENT, " '")
    return separated.translate(_alone).split()[:most]
