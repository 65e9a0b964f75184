#!/usr/bin/env bash
# Guess: Python writes a long In-Reply-To as it writes a long Message-ID.
# Seen: as_bytes(), and so smtplib's send_message, leaves a long Message-ID whole, but turns an
#   In-Reply-To or References that does not fit on a line into RFC 2047 encoded words, which RFC
#   5322 does not allow there. Python's default reader, as `mailbox` uses it, does not decode them:
#   the reply no longer names its parent. Only `policy=email.policy.default` decodes them.
# Hurt: who makes threads of mail that a Python program has sent: a reply to an id of 70 characters
#   or more, as of Exchange, looks like the start of a thread.
# Versions: Python 3.11, only the standard library; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
cd "$folder"
venv/bin/python - <<'PYTHON'
import email
import email.policy
import mailbox
import sys
from email.message import EmailMessage
from pathlib import Path

found = {}
for length in (40, 100):
    own, parent = (f"<{letter * length}@mail.example.org>" for letter in "ab")
    reply = EmailMessage()
    reply["Message-ID"] = own
    reply["In-Reply-To"] = parent
    reply.set_content("Yes.")
    sent = reply.as_bytes()
    Path("box").write_bytes(b"From nobody Sat Nov 28 00:00:00 2026\n" + sent)
    (read,) = mailbox.mbox("box")
    modern = email.message_from_bytes(sent, policy=email.policy.default)
    print(length, "letters, as read:", repr(read["In-Reply-To"]))
    found[length] = read["Message-ID"] == own, read["In-Reply-To"] == parent, (
        modern["In-Reply-To"] == parent
    )
print(sys.version.split()[0], "own id, parent's id, parent's id by the modern policy:", found)
assert found == {40: (True, True, True), 100: (True, False, True)}, "changed"
PYTHON
