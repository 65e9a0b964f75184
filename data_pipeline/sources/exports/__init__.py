"""Exports of chats, forums and help desks -> messages, without a field named by the user.

A format is one module with an `EXPORT`: which files, which fields, which messages count.
"""

from importlib import import_module
from typing import Any


def export_of(name: str) -> Any:
    """The `Export` of a format."""
    return import_module(f"{__name__}.{name}").EXPORT
