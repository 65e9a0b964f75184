"""Mailboxes written by hand: a list's archive as Mailman writes it, and Gmail's form (RFC 4155)."""

import gzip
from email.message import EmailMessage
from pathlib import Path

import pytest

from data_pipeline.sources.exports import mbox
from data_pipeline.sources.exports.mbox import own_words

HERE = Path(__file__).parent / "mbox"
TEXTS = {
    "<1@example.org>": "Hello,\nFrom May on my tomatoes have yellow leaves. Why?\n"
    "From here I cannot see the roots.",
    "<2@example.org>": "Too much water, I think.\n\nRoots need air.",
    "<4@mail.example.org>": "It was the water.\nThank you & Grüße",
    "<5@mail.example.org>": "Gern, Grü\N{REPLACEMENT CHARACTER}e",
}


def test_replies_become_pairs(make):
    statistics, pairs = make("import", "mbox", "--input", HERE)
    found = {(pair["input_id"], pair["response_id"]) for pair in pairs}
    assert found == {
        ("<1@example.org>", "<2@example.org>"),
        ("<2@example.org>", "<4@mail.example.org>"),
        ("<4@mail.example.org>", "<5@mail.example.org>"),
    }
    for pair in pairs:
        assert pair["input"] == TEXTS[pair["input_id"]]
        assert pair["response"] == TEXTS[pair["response_id"]]
    assert statistics["dropped"] == {"automatic": 1, "empty": 0}
    assert statistics["malformed"] == 1  # without a Message-ID


def test_an_archive_may_be_compressed(make, tmp_path):
    archive = tmp_path / "2024-January.txt.gz"
    archive.write_bytes(gzip.compress((HERE / "2024-January.txt").read_bytes()))
    _, pairs = make("import", "mbox", "--input", archive)
    assert [pair["response_id"] for pair in pairs] == ["<2@example.org>"]


def test_a_long_id_of_a_parent_is_an_encoded_word(make, tmp_path):
    parent = f"<{'b' * 100}@example.org>"
    mails = []
    for own, replied in ((parent, ""), ("<2@example.org>", parent)):
        mail = EmailMessage()
        mail["Message-ID"] = own
        mail["In-Reply-To"] = replied
        mail.set_content("Yes.")
        mails.append(b"From jane Mon Jan  1 10:00:00 2024\n" + mail.as_bytes() + b"\n")
    assert b"=?utf-8?" in mails[1]
    (tmp_path / "a.mbox").write_bytes(b"".join(mails))
    _, pairs = make("import", "mbox", "--input", tmp_path / "a.mbox")
    assert [pair["input_id"] for pair in pairs] == [parent]


@pytest.mark.parametrize("content", [b"Dear Jane,\n\nFrom 1 to 10.\n", b"\x89PNG\r\n"])
def test_a_file_that_is_no_mailbox_is_named(refused, tmp_path, content):
    (tmp_path / "a.mbox").write_bytes(content)
    assert "a.mbox" in refused("import", "mbox", "--input", tmp_path / "a.mbox")


def test_of_a_long_mail_the_start_is_kept(make, tmp_path, monkeypatch):
    monkeypatch.setattr(mbox, "_KEPT_BYTES", 1500)
    first, rest = (HERE / "Mail.mbox").read_bytes().split(b"--b--")
    attached = b"--b\nContent-Type: text/plain; charset=utf-8\n\n" + b"attached\n" * 500
    (tmp_path / "a.mbox").write_bytes(first + attached + b"--b--" + rest)
    _, pairs = make("import", "mbox", "--input", tmp_path / "a.mbox")
    assert [pair["input"] for pair in pairs] == [TEXTS["<4@mail.example.org>"]]


@pytest.mark.parametrize(
    ("mail", "own"),
    [
        ("Yes.\n\n> Is it?\n>> No.\n\nNo.\n", "Yes.\n\nNo."),
        ("Am 01.01.2024 um 10:00 schrieb Jane Doe\n<jane@example.org>:\n\n> Ja?\nNein.", "Nein."),
        ("Le 1 janv. 2024 à 10:00, Jane a écrit :\n> Oui ?\nNon.", "Non."),
        ("Jane wrote:\n> Yes?\n[...]\n> Really?\nNo.", "No."),
        ("She wrote: I agree.\nSo do I.", "She wrote: I agree.\nSo do I."),
        ("Ok.\n\nOn Monday, Jane wrote:\n", "Ok."),
        ("Ok.\n\n*From:* Jane\n*Sent:* Monday\n*To:* Ann\n\nYes?", "Ok."),
        ("Ok.\n________________________________\nVon: Jane\nGesendet: Montag\n\nJa?", "Ok."),
        ("Ok.\n--\nJane\nGardens Ltd", "Ok."),
        ("- one\n-- two\n---\nthree", "- one\n-- two\n---\nthree"),
        ("Ok.\n_______________________________________________\nGardens mailing list\n", "Ok."),
        ("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\nOk.\n", "Ok."),
        ("Ok.\n-----BEGIN PGP SIGNATURE-----\niEYE", "Ok."),
        ("From: the start\nto the end", "From: the start\nto the end"),
        ("Ok.\nSent from my iPhone", "Ok."),
        ("A table:\n| a | b |", "A table:\n| a | b |"),
        ("-----BEGIN PGP SIGNED MESSAGE-----\n\nOk.\n- -- \nJane", "Ok."),
        ("2012/5/4 Jane <jane@example.org>\n\n> Yes?\nOk.", "Ok."),
        ("2012-05-04 10:00 GMT+02:00 Jane <\njane@example.org>:\n> Yes?\nOk.", "Ok."),
    ],
)
def test_quotes_and_signatures_are_removed(mail, own):
    assert own_words(mail) == own
