"""Which field of a row is what."""

from typing import NamedTuple


class Fields(NamedTuple):
    """Names of fields; None where there is no such field."""

    id: str | None = None
    parent: str | None = None
    text: str | None = None
    thread: str | None = None
    order: str | None = None
    author: str | None = None
    input: str | None = None
    response: str | None = None
    time: str | None = None
    group: str | None = None

    def given(self) -> dict[str, str]:
        """Role -> name, of those that there are."""
        return {role: name for role, name in self._asdict().items() if name is not None}
