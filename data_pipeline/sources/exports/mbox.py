"""Mailboxes: mbox files (RFC 4155), such as those of Gmail's Takeout and of GNU Mailman.

A mail replies to the one that In-Reply-To names, or the last one of References (RFC 5322, 3.6.4).
Its text is its first part of plain text or HTML, without quotes and signatures.
"""

import re
from collections.abc import Iterable, Iterator
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import Message
from email.utils import mktime_tz, parsedate_tz
from typing import cast

from common.tables import Row
from data_pipeline.sources.exports.export import Export, People, Record
from data_pipeline.sources.markup import plain_text
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import read_line_batches

_KEPT_BYTES = 1 << 20  # of a mail; its texts come first, and attachments behind them are not read
_FIRST_LINE = re.compile(rb"(?m)^From .*\d:\d\d.*\b\d{4}\b.*$")
_ESCAPED = re.compile(rb"(?m)^>(>*From )")
_ID = re.compile(r"<[^<>\s]+>")
_ADDRESS = re.compile(r"[^\s<>\"(]+(?:@| at )[^\s<>\")]+")
_MARKUPS = {"text/plain": "none", "text/html": "html"}

_FIELDS = (
    "From|Sent|Date|To|Subject|Von|Gesendet|Datum|An|Betreff|De|Envoyé|À|Objet|Enviado|Enviado el|"
    "Para|Asunto|Assunto|Da|Inviato|A|Oggetto|Van|Verzonden|Aan|Onderwerp|От|Отправлено|Кому|Тема"
)
_ORIGINAL = (
    "Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Mensagem original|"
    "Messaggio originale|Oorspronkelijk bericht|Исходное сообщение|Forwarded [Mm]essage|next part"
)
_WROTE = (
    "wrote|writes|said|schrieb|écrit|escribió|escreveu|ha scritto|schreef|skrev|napisał|kirjoitti|"
    "написал|писал|пишет|yazdı"
)
# On 2,000 mails of a technical list, most of them with replies between quotes, mail-parser-reply
# 1.36 leaves quotes in 991 and takes 940 microseconds a mail; email-reply-parser 0.5.12, last
# released in 2020, loses more than half of what these rules keep in 74, and leaves 203 lines such
# as "Jane wrote:" (these rules: 11). They take 50 to 80 microseconds.
_REST = re.compile(
    r"(?m)^(?:- )?--[ ]?$|^-----BEGIN PGP SIGNATURE|^(?:Sent from my|Get Outlook for) "
    r"|^An? (?:HTML|non-text) attachment was scrubbed"
    rf"|^[ \t]*-+ ?(?:{_ORIGINAL}) ?-+|^(?:[*]?(?:{_FIELDS}) ?:[*]? .*\n){{2}}"
    rf"|^_{{20,}}\n.*(?:mailing list|{_FIELDS})"
)
"""Where signatures, footers of lists, removed attachments and quoted mails begin."""
_QUOTE = re.compile(
    r"(?m)^[ \t]*\w{0,3}>.*\n?(?:[ \t]*\n?[ \t]*\w{0,3}>.*\n?)*|^[\[<][^]>\n]{1,12}[]>]$"
    r"|^-----BEGIN PGP SIGNED MESSAGE-----\n(?:.+\n)*"
)
"""Lines behind `>`, where some were left out (`[...]`, `<snip>`), and a header of PGP's."""
_INTRODUCTION = re.compile(
    r"(?m)^(?:(?:(?:On|Am|Le|El|Il|Em|Op|Den|På|W dniu|Dnia|В|\d).*\n(?:.+\n)?)?"
    rf".*(?:\b(?:{_WROTE})\b|写道).{{0,60}}(?:\n.{{0,60}})?[:：]"
    r"|\d{4}[-/]\d\d?[-/]\d.*<[^<>]+>:?)\s*(?=\0|\Z)"
)
"""Up to three lines such as "On Monday, Jane wrote:" or "2012/5/4 Jane <jane@example.org>" before
a quote or the end."""


def own_words(text: str) -> str:
    """The text of a mail without quotes of others, signatures and footers of lists."""
    text = text.replace("\r\n", "\n")
    if rest := _REST.search(text):
        text = text[: rest.start()]
    text = _INTRODUCTION.sub("", _QUOTE.sub("\0", text)).replace("\0", "\n")
    return re.sub(r"\n\s*\n", "\n\n", text).strip()


def _mails(file: InputFile, tap: Tap) -> Iterator[Row]:
    """The mails of a mailbox, each with the number of its first line; of long ones, the start."""
    number, mail = 0, b""
    for batch in read_line_batches(file, tap):
        here, read = batch.first_line, 0
        for first in _FIRST_LINE.finditer(batch.content):
            mail += batch.content[read : first.start()]
            if number:
                yield Row(number, {"mail": mail[:_KEPT_BYTES]})
            elif mail.strip():
                break
            here += batch.content.count(b"\n", read, first.start())
            number, mail, read = here, b"", first.start()
        mail = (mail + batch.content[read:] + b"\n")[: 2 * _KEPT_BYTES]
        if not number and mail.strip():
            raise UnreadableFileError(
                f"{file.path}: line 1: {mail.strip()[:60]!r}; accepted: mailboxes, in which each "
                "mail begins with a line such as 'From jane@example.org Fri Jan  1 05:05:00 2010'"
            )
    if number:
        yield Row(number, {"mail": mail[:_KEPT_BYTES]})


def _messages(record: Record, people: People) -> Iterable[Record]:
    _, _, content = record["mail"].partition(b"\n")
    # 55 microseconds a mail; with the default policy 316.
    mail = message_from_bytes(_ESCAPED.sub(rb"\1", content), policy=policy.compat32)
    own_id, replied, references = (
        _ID.findall(_header(mail, name)) for name in ("Message-ID", "In-Reply-To", "References")
    )
    parents = replied if len(replied) == 1 else references or replied
    sender, date = str(mail["From"] or ""), parsedate_tz(str(mail["Date"]))
    # `Precedence: bulk` is no sign, since many lists write it.
    is_automatic = not str(mail["Auto-Submitted"] or "no").strip().lower().startswith("no")
    yield {
        "id": own_id[0] if own_id else str(mail["Message-ID"] or ""),
        "parent": parents[-1] if parents else None,
        "author": (_ADDRESS.findall(sender) or [sender])[0].lower(),
        "time": mktime_tz(date) if date else None,
        "text": _text(mail),
        "automatic": is_automatic or mail.get_content_type() == "multipart/report",
    }


def _header(mail: Message, name: str) -> str:
    value = str(mail[name] or "")
    # Python's own mailer writes long ids as encoded words (RFC 2047).
    return str(make_header(decode_header(value))) if "=?" in value else value


def _text(mail: Message) -> str:
    """Of its first part with text: plain text comes before the same as HTML, footers behind it."""
    for part in mail.walk():
        markup = _MARKUPS.get(part.get_content_type())
        is_shown = markup and part.get_content_disposition() != "attachment"
        if is_shown and (text := own_words(plain_text(_decoded(part), str(markup)))):
            return text
    return ""


def _decoded(part: Message) -> str:
    """Its text; bytes that its charset, or else UTF-8, does not have are U+FFFD."""
    content = cast(bytes, part.get_payload(decode=True) or b"")
    charset = part.get_content_charset("us-ascii")
    try:
        return content.decode("utf-8" if charset == "us-ascii" else charset, "replace")
    except (LookupError, ValueError):  # such as unknown-8bit
        return content.decode(errors="replace")


EXPORT = Export(
    files=("*.mbox", "*.mbox.*", "*.mbx", "*.txt", "*.txt.*", "*/mbox"),
    records=_mails,
    messages=_messages,
    fields={name: name for name in ("id", "parent", "author", "time", "text")},
    skips={"automatic": lambda mail: mail["automatic"]},
)
