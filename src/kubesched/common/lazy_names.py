"""Names of a package that are imported when they are first used, so that importing the package costs nothing.

From modules and the names in them to the package's `__getattr__`. Type checkers read the imports beside it.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package; `homes` maps modules below it to their names in one text."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home}"), name)
        # Python finds it without this function from now on
        setattr(sys.modules[package], name, value)
        return value

    return get
