"""Texts without the markup of HTML, Slack or Markdown.

Line breaks, paragraphs, items of lists and blocks of code are lines, without empty lines and runs
of white space. Links keep their label, code stays. Images go, and so do quotes: a reply that
repeats its input would teach a model to look for copies.
"""

import html
import re
from collections.abc import Callable, Set
from functools import cache
from typing import Any

ENTITY = re.compile(r"&(?:[a-zA-Z]\w{1,30}|#\d{1,7}|#[xX][\da-fA-F]{1,6});")
"""An HTML entity that ends in a semicolon: `&section=0` is part of a link."""
_CELLS, _INLINE = {"td", "th"}, {"del", "ins"}
_UNSEEN = {"blockquote", "head", "script", "style", "template", "title"}
_AMPERSAND = re.compile(rf"&(?!{ENTITY.pattern[1:]})")
_MARKDOWN = re.compile(r"(?m)[*_~`\[\]\\&<>#|]|^(?: {4}|\t|\s*(?:[-+=]|\d+[.)]))")
_SPOILER = re.compile(r"(?s)(`+.*?`+)|(?:>!|\|\|)(.{1,1000}?)(?:!<|\|\|)")
"""Reddit's and Discord's, and code, where the same signs are text."""
_SLACK_QUOTE = re.compile(r"(?ms)^(?:&gt;){3}.*|^&gt;[^\n]*$")
_SLACK_LINK = re.compile(r"<([@#!]?)([^<>|\n]*)(?:\|([^<>\n]*))?>")
_SLACK_CODE = re.compile(r"(?s)(```.*?```|`[^`\n]+`)")
_SLACK_EMPHASIS = re.compile(r"(?<![\w*_~])([*_~])(?=\S)([^\n]{0,1000}?\S)\1(?![\w*_~])")


def plain_text(text: str, markup: str) -> str:
    """A text as its readers see it, without what `markup`, one of `MARKUPS`, adds to it."""
    if markup not in _READERS:
        return text
    lines = _READERS[markup](text).replace("\r", "\n").split("\n")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def without_entities(text: str) -> str:
    """A text with the characters that entities stand for."""
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


class _SeenText:
    """Collects the text of a page, as lxml's parser calls it; `close` starts the next one."""

    def __init__(self, blocks: Set[str]) -> None:
        self._blocks = blocks
        self._pieces, self._unseen, self._kept_lines = list[str](), 0, 0

    def start(self, tag: str, attributes: object, *, step: int = 1) -> None:
        self._unseen += step * (tag in _UNSEEN)
        self._kept_lines += step * (tag == "pre")
        if tag in self._blocks:
            self._pieces.append(" " if tag in _CELLS else "\n")

    def end(self, tag: str) -> None:
        self.start(tag, None, step=-1)

    def data(self, text: str) -> None:
        if not self._unseen:
            self._pieces.append(text if self._kept_lines else text.replace("\n", " "))

    def close(self) -> str:
        text = "".join(self._pieces)
        self._pieces, self._unseen, self._kept_lines = [], 0, 0
        return text


# Measured on 4,000 Reddit comments as Reddit renders them (163 characters; 400 of 1,760), one
# core, microseconds a text: lxml with a target 5 (19), html.parser 10 (79), Resiliparse 14 (64),
# selectolax 8 (40), html2text 53, html-text 32, inscriptis 41, Beautiful Soup 114. html.parser
# gives the same texts; html2text writes Markdown, html-text and inscriptis join lines of code.
@cache
def _html_parser() -> tuple[Any, re.Pattern[str]]:
    from lxml import etree
    from lxml.html.defs import block_tags, tags

    parser = etree.HTMLParser(target=_SeenText({*block_tags, "br"} - _INLINE))
    return parser, re.compile(rf"(?i)</?(?:{'|'.join(sorted(tags))})(?:[\s/][^<>]*)?>")


def has_html(text: str) -> bool:
    """Whether a text has tags or entities of HTML; `List<String>` and `<jane@x.org>` are none."""
    return bool(_html_parser()[1].search(text) or ENTITY.search(text))


def _without_html(text: str) -> str:
    from lxml import etree

    parser, tag = _html_parser()
    if not tag.search(text):
        return without_entities(text)
    return str(etree.fromstring(_AMPERSAND.sub("&amp;", text), parser))


@cache
def _markdown_parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _without_markdown(text: str) -> str:
    if not _MARKDOWN.search(text):
        return text  # 86% of Reddit's comments; parsing takes 35 microseconds
    pieces, quotes = list[str](), 0
    for token in _markdown_parser().parse(_SPOILER.sub(lambda found: found[1] or found[2], text)):
        if token.type.startswith("blockquote"):
            quotes += token.nesting
        elif not quotes:
            inner = token.children or [token]  # a block of code has no children
            seen = [each for each in inner if each.type != "image"]
            pieces += ["\n" if each.type.endswith("break") else each.content for each in seen]
            pieces.append("\n")
    return "".join(pieces)


def _without_slack(text: str) -> str:
    """The text of Slack's mrkdwn, which has no library; a member without a name goes."""
    pieces = _SLACK_CODE.split(_SLACK_QUOTE.sub("", text))
    pieces[::2] = map(_without_emphasis, pieces[::2])
    pieces[1::2] = [code.strip("`") for code in pieces[1::2]]
    return without_entities(_SLACK_LINK.sub(_label, "".join(pieces)))


def _without_emphasis(text: str) -> str:
    return _SLACK_EMPHASIS.sub(lambda found: _without_emphasis(found[2]), text)


def _label(link: re.Match[str]) -> str:
    kind, target, label = link.groups()
    if kind in ("@", "#"):
        return f"{kind}{label}" if label else ""
    is_group = target.startswith("subteam")
    return label or ("" if is_group else f"@{target}" if kind else target)


_READERS: dict[str, Callable[[str], str]] = {
    "html": _without_html,
    "slack": _without_slack,
    "markdown": _without_markdown,
}
MARKUPS = ("none", *_READERS)
