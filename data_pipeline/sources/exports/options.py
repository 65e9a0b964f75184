"""The options of `import`: a format, and what is done to its messages."""

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.command_line import option
from common.errors import InputError, reading
from data_pipeline.pairs.options import HALVES
from data_pipeline.sources.exports import export_of
from data_pipeline.sources.markup import MARKUPS
from data_pipeline.sources.tables.options import FlowOptions

FORMATS = (
    *("slack", "discord", "telegram", "mbox", "stackexchange", "hackernews", "zendesk"),
    "dialogues",
)
"""The modules in this folder that declare a format."""
_FILTERS = "stackexchange"


@dataclass(frozen=True, kw_only=True)
class ImportOptions(FlowOptions):
    """Make input-response pairs from what a chat program exported."""

    export: str = option(
        help="what wrote the files; docs/data.md says what is read of each",
        choices=FORMATS,
        positional=True,
    )
    input: tuple[str, ...] = option(
        help="the export: its folder, a zip of it, or files of it; no folder on gs:// or s3://",
        metavar="PATH[,PATH...]",
    )
    text_markup: str | None = option(
        None,
        help="the markup of the texts, which is removed; default: that of the export",
        choices=MARKUPS,
    )
    accepted_only: bool = option(False, help="drop answers that are not accepted", group=_FILTERS)
    min_score: int | None = option(None, help="drop answers with a lower score", group=_FILTERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self._filters.keys() - self._declared.filters.keys():
            raise InputError(f"--{name}: accepted with {_FILTERS}, not with {self.export}")

    @property
    def _filters(self) -> dict[str, Any]:
        given = {"accepted_only": self.accepted_only or None, "min_score": self.min_score}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def _declared(self) -> Any:
        return export_of(self.export)

    @property
    def inputs(self) -> Sequence[str]:
        """The files, for a folder patterns of those in it that are of the format."""
        return [each for value in self.input for each in self._in_folder(value)]

    def _in_folder(self, value: str) -> Sequence[str]:
        if not Path(value).is_dir():
            return [value]
        names = (*self._declared.files, *self._declared.people_files, "*.zip")
        patterns = [f"{glob.escape(value)}/**/{name}" for name in names]
        found = [each for each in patterns if glob.glob(each, recursive=True)]  # noqa: PTH207
        if not found:
            raise InputError(f"--input: {value!r}: no file in it is named {' or '.join(names)}")
        return found

    @property
    def names(self) -> Mapping[str, str]:
        """Those of the export."""
        return self._declared.fields

    def source(self, files: Any) -> Any:
        """Messages of exports; an InputError if a file is not of the format."""
        from data_pipeline.sources.exports.export import ExportReader, people_of
        from data_pipeline.sources.source import Layout
        from data_pipeline.sources.tables.reader import SKIPPED
        from data_pipeline.sources.tables.source import table_source

        export, flow = self._declared, self.flow
        layout, names = export.layout, {**self.names, SKIPPED: SKIPPED}
        is_timed = self.gap is None or "time" in names
        if self.has_flow and not (export.channel or (layout is Layout.ORDERED and is_timed)):
            raise InputError(f"--gap, --merge_author_runs: not accepted with {self.export}")
        if self.has_flow and export.channel:
            layout, flow = Layout.ORDERED, flow._replace(is_apart=export.replies_are_apart)
            names |= {"thread": export.channel, "order": export.fields["time"]}
        if self.pairs_of == HALVES and export.layout is Layout.LINKED_THREADS:
            what = f"messages of {self.export} have no thread, whose split their halves belong in"
            raise InputError(f"--pairs_of: {HALVES!r}: {what}")
        with reading("--input"):
            reader = ExportReader(self.export, people_of(self.export, files), self._filters)
        return table_source(
            self,
            files,
            layout,
            names,
            flow=flow,
            ids_within=export.ids_within,
            markup=self.text_markup or export.markup,
            skips=(*export.skips, *self._filters),
            reader=reader,
        )
