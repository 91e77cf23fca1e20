"""Names of a package that are imported when they are first used, so that importing the package costs nothing.

From modules and the names in them to the package's `__getattr__`. Type checkers read the imports beside it.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from kubesched.common.distributions import imported


def lazy_names(
    package: str, homes: Mapping[str, str], elsewhere: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package; `homes` maps modules below it to their names in one text.

    `elsewhere` maps modules of other distributions. Without the distribution, a name raises an ImportError that names
    it.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    elsewhere_of = {name: home for home, names in (elsewhere or {}).items() for name in names.split()}

    def get(name: str) -> Any:
        if name in elsewhere_of:
            value = imported(elsewhere_of[name], name, f"{package}.{name}")
        elif name in home_of:
            value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Python finds it without this function from now on
        setattr(sys.modules[package], name, value)
        return value

    return get
