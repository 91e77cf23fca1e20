"""What can go wrong with an expression.

KubeschedError
├── CelCompileError     the text is no expression over a device; carries the reference's words
└── CelRuntimeError     the expression cannot be evaluated for this device
    ├── CelValueError   an operation failed; `||`, `&&` and the macros built on them can absorb it
    └── CelAbortError   nothing absorbs it: the cost limit, or something that is not done here
"""

from typing import Final

from kubesched.errors import KubeschedError

NO_SUCH_OVERLOAD: Final = "no such overload"


class CelCompileError(KubeschedError):
    """A text that is no expression over a device."""


class CelRuntimeError(KubeschedError):
    """An expression that cannot be evaluated for a device; the text is the reference's.

    `cost` is what had been spent by then.
    """

    cost = 0


class CelValueError(CelRuntimeError):
    """An operation that failed; logical operators can absorb it."""


class CelAbortError(CelRuntimeError):
    """An evaluation that ends here."""


def no_such_overload() -> CelValueError:
    """Return the error of an operation that is not defined for its operands."""
    return CelValueError(NO_SUCH_OVERLOAD)
