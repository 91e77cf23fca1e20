"""Restrictions: the parts of a cluster that a plugin may read while it computes a cached answer.

From the columns that ask plugins to the views through which plugins read. An answer that is kept is recomputed when
something changes that the plugin has named in `reads`, so the plugin may read nothing else while it is asked.

A restriction belongs to the context of the code that asks (`contextvars`). Threads of plugins run in other contexts,
so no restriction applies to them. A task or a timer that a plugin creates while it is asked has a copy of the context;
the restriction in that copy ends together with the original.
"""

from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, Token
from typing import Final

from kubesched.core.cluster.changes import UNRESTRICTED, ChangeLog


class Restriction:
    """A context manager: code in it may read some groups only of the cluster that a change log belongs to."""

    __slots__ = ("_token", "log", "reads")

    def __init__(self, log: ChangeLog, reads: int) -> None:
        self.log = log
        self.reads = reads
        self._token: Token[Restriction | None] | None = None

    def __enter__(self) -> None:
        self._token = RESTRICTION.set(self)

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        RESTRICTION.reset(self._token)
        # tasks of the plugin have copies of this context
        self.reads = UNRESTRICTED


# None: code in this context may read anything
RESTRICTION: Final[ContextVar[Restriction | None]] = ContextVar("RESTRICTION", default=None)


def may_read(log: ChangeLog) -> int:
    """Return the groups that code in this context may read of a cluster; with `OTHER_ROWS` also other nodes."""
    restriction = RESTRICTION.get()
    return UNRESTRICTED if restriction is None or restriction.log is not log else restriction.reads


def restricted(log: ChangeLog, reads: int | None) -> AbstractContextManager[None]:
    """Return a context in which code may read these groups alone; None changes nothing."""
    return nullcontext() if reads is None else Restriction(log, reads)
