"""What all packages share: errors, command lines, files, and readers of the formats they all read.

Nothing in here imports another package of this project.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def deferred(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose public names these modules define.

    They are imported when a name is first used: TensorFlow and Beam take seconds.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return load
