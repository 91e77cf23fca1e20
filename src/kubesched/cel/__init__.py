"""CEL device selectors: expressions over a device, compiled once and asked often.

Comes in: the text of an expression, a driver's name and a device. Goes out: whether the device matches, or an error
with the reference's words. Never: I/O, or an answer where the reference has an error.

A text becomes words (`lexer`), a tree (`parser`, `macros`), a tree with types (`checker`, `validators`), and closures
(`planner`), which `selectors` runs on devices.
"""

from kubesched.cel.errors import CelCompileError, CelRuntimeError
from kubesched.cel.selectors import CompiledSelector, compile_selector

__all__ = ["CelCompileError", "CelRuntimeError", "CompiledSelector", "compile_selector"]
