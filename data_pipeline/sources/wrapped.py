"""A source around another one, of which it changes some things."""

from dataclasses import dataclass
from typing import Any

from data_pipeline.sources.source import Source


@dataclass(frozen=True)
class Wrapped:
    """A `Source` that answers like `source`, but where a subclass says otherwise."""

    source: Source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "source":  # asked while it is unpickled
            raise AttributeError(name)
        return getattr(self.source, name)
