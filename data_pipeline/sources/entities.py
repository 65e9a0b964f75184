"""HTML entities -> characters, where they end in a semicolon: `&section=0` is part of a link."""

import html
import re

ENTITY = re.compile(r"&(?:[a-zA-Z]\w{1,30}|#\d{1,7}|#[xX][\da-fA-F]{1,6});")


def replaced(text: str) -> str:
    """A text with the characters that entities stand for."""
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
