"""Whether the hooks of a plugin can be called as the framework calls them.

From a plugin to a sentence about a wrong signature, at the start; otherwise each attempt would fail.
"""

import inspect
from functools import cache

from kubesched.core.framework.plugin import EXTENSION_POINTS, Plugin


@cache
def signature_problem(plugin: type[Plugin], hooks: tuple[str, ...]) -> str:
    """Return why one of these hooks cannot be called, an empty text if all can."""
    for hook in hooks:
        declared = _declared(plugin, hook)
        own = inspect.getattr_static(plugin, hook, None)
        if declared is None or not inspect.isfunction(own):
            # other callables cannot be inspected
            continue
        signature = inspect.signature(own)
        try:
            signature.bind("self", *declared)
        except TypeError:
            taken = ", ".join(list(signature.parameters)[1:])
            return f"{hook} takes ({taken}) but is called with ({', '.join(declared)})"
    return ""


def _declared(plugin: type[Plugin], hook: str) -> tuple[str, ...] | None:
    """Return the parameters that a base class declares for a hook, None if the plugin does not override it."""
    for base in EXTENSION_POINTS.values():
        if issubclass(plugin, base) and hook in vars(base):
            if getattr(plugin, hook) is vars(base)[hook]:
                return None
            return tuple(name for name in inspect.signature(vars(base)[hook]).parameters if name != "self")
    return None
