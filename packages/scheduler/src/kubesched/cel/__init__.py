"""CEL device selectors: expressions over a device, compiled once and evaluated often.

Comes in: the text of an expression, a driver's name and a device. Goes out: whether the device matches, or an error
with the reference's words. Never: I/O, or a result where the reference has an error.

A text becomes tokens (`lexer`), a tree (`parser`, `macros`), a tree with types (`checker`, `validators`), and closures
(`planner`), which `selectors` evaluates for devices.
"""

from typing import TYPE_CHECKING

from kubesched.cel.errors import CelCompileError, CelRuntimeError

if TYPE_CHECKING:
    from kubesched.cel.selectors import CompiledSelector

__all__ = ["CelCompileError", "CelRuntimeError", "compile_selector", "is_compiled"]


def compile_selector(expression: str, *, list_attributes: bool) -> "CompiledSelector":
    """Return the compiled expression, from a cache; its `error` is empty if it can be used."""
    # importing CEL takes a tenth of a scheduler's start, and few clusters have devices
    from kubesched.cel import selectors

    return selectors.compile_selector(expression, list_attributes=list_attributes)


def is_compiled(expression: str, *, list_attributes: bool) -> bool:
    """Return whether an expression is compiled already, and in the cache."""
    from kubesched.cel import selectors

    return selectors.is_compiled(expression, list_attributes=list_attributes)
