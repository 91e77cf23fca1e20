"""The errors of expressions.

KubeschedError
├── CelCompileError     the text is no valid expression; the text is the reference's
└── CelRuntimeError     the expression cannot be evaluated for this device
    ├── CelValueError   an operation failed; `||`, `&&` and the macros built on them can absorb it
    └── CelAbortError   nothing absorbs it: the cost limit, or a feature that is not supported
"""

from typing import Final

from kubesched.errors import KubeschedError

NO_SUCH_OVERLOAD: Final = "no such overload"


class CelCompileError(KubeschedError):
    """A text that is no valid expression."""


class CelRuntimeError(KubeschedError):
    """An expression that cannot be evaluated for a device; the text is the reference's.

    `cost` is the cost up to the error.
    """

    cost = 0


class CelValueError(CelRuntimeError):
    """An operation that failed; logical operators can absorb it."""


class CelAbortError(CelRuntimeError):
    """An error that ends the evaluation."""


def no_such_overload() -> CelValueError:
    """Return the error of an operation that is not defined for its operands."""
    return CelValueError(NO_SUCH_OVERLOAD)
