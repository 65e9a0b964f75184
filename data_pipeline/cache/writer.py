"""What is read of one dump -> the files that are kept of it, and what was counted."""

from collections import Counter
from contextlib import ExitStack

import google_crc32c
import numpy as np
from apache_beam.io.filesystems import FileSystems

from data_pipeline.cache.cached_input import (
    COMPRESSED,
    DEAD_LETTERS,
    INDEX,
    LEFT_OUT,
    PLAIN,
)
from data_pipeline.execution.blocks import PART, BlockFile, Compressor
from data_pipeline.files.inputs import MAX_LINE_BYTES, LineBatch
from data_pipeline.reddit.comment import (
    KEPT_OF_TOO_LONG,
    MalformedLineError,
    dead_letter,
    parse_comment,
)
from data_pipeline.reddit.filters import Rules
from data_pipeline.reddit.join import SLOTS, Packer

COMMENTS_A_PACK = 100_000
EXAMPLES = 3
"""Examples of dropped comments that are kept for each rule."""


class CachedInputWriter:
    """Packs what is read of one dump, and counts."""

    def __init__(
        self,
        folder: str,
        stack: ExitStack,
        *,
        compressed: bool,
        max_dead_letters: int,
        subreddits: frozenset[str],
    ):
        self._comments = COMPRESSED if compressed else PLAIN
        self._max_dead_letters = max_dead_letters
        self._wanted = subreddits
        self.files = {
            name: stack.enter_context(BlockFile(FileSystems.join(folder, name)))
            for name in (self._comments, INDEX, DEAD_LETTERS)
        }
        self.counts: Counter = Counter(lines=0, malformed=0)
        self.reasons: Counter = Counter()
        self.examples: dict[int, list[str]] = {}
        """Index of the rule -> beginnings of the first texts that it dropped."""
        self.subreddits: set[str] = set()
        """Those of `--subreddits` that have a comment, kept or not."""
        self._dead_letters = 0
        self._packer = Packer()
        self._compress = Compressor() if compressed else bytes

    def take(self, batch: LineBatch, rules: Rules) -> Counter:
        """Adds the comments of some lines; returns what was counted."""
        malformed = 0
        names: set[str] = set()
        that_drops, add = rules.that_drops, self._packer.add
        for index, line in enumerate(batch.lines):
            try:
                comment = parse_comment(line)
            except MalformedLineError as error:
                malformed += 1
                self._put_aside(batch, index, str(error))
                continue
            if self._wanted:
                names.add(comment.subreddit)
            rule = that_drops(comment)
            if rule is not None:
                self._keep_example(rule, comment.text)
            add(comment, rule)
        if self._packer.comments >= COMMENTS_A_PACK:
            self.flush()
        self.subreddits |= self._wanted & set(map(str.lower, names))
        counts = Counter(lines=len(batch.lines), malformed=malformed)
        self.counts.update(counts)
        return counts

    def _keep_example(self, rule: int, text: str) -> None:
        examples = self.examples.setdefault(rule, [])
        if len(examples) < EXAMPLES:
            examples.append(text[:KEPT_OF_TOO_LONG])

    def _put_aside(self, batch: LineBatch, index: int, reason: str) -> None:
        line = batch.lines[index]
        if index in batch.too_long:
            # Cut off, it is no JSON any more.
            reason = f"a line of {batch.too_long[index]} bytes; at most {MAX_LINE_BYTES} are read"
            line = line[:KEPT_OF_TOO_LONG]
        # Without the column at which JSON ended, of which there are as many as lines.
        self.reasons[reason.partition(":")[0]] += 1
        if self._dead_letters == self._max_dead_letters:
            self.counts[LEFT_OUT] += 1
            return
        self._dead_letters += 1
        letter = dead_letter(
            path=batch.path, line_number=batch.first_line + index, reason=reason, line=line
        )
        self.files[DEAD_LETTERS].append(letter)

    def flush(self) -> None:
        """Writes what is packed."""
        parts = np.zeros(SLOTS, PART)
        frames = []
        for slot, rows in self._packer.packed():
            frame = self._compress(rows)
            parts[slot] = len(frame), google_crc32c.value(frame)
            frames.append(frame)
        self.files[self._comments].append(b"".join(frames))
        self.files[INDEX].append(parts.tobytes())
        self._packer = Packer()
