"""The console scripts, from the first moment of their processes to the last.

In: a command line and three standard streams, of which some may be closed, full or unread. Out: the command's exit
code. Ctrl-C and output that cannot be written end a command in a word or none, never in a traceback. Commands are
imported here and not before, so that this holds while they are.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

# what becomes of output that goes nowhere: a full disk, a closed pipe, a terminal that is gone
_UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE})
# what shells tell of a command that was interrupted
INTERRUPTED = 128 + signal.SIGINT
AGAIN_SECONDS = 0.05


def kubesched() -> None:
    """Be `kubesched`."""
    be(_kubesched)


def kube_scheduler() -> None:
    """Be `kube-scheduler`."""
    be(_kube_scheduler)


def _kubesched() -> Callable[[], object]:
    from kubesched.cli import main

    return lambda: main(prog_name="kubesched")


def _kube_scheduler() -> Callable[[], object]:
    from kubesched.run.command import kube_scheduler

    return kube_scheduler


def _not_lost(dropped: "UnraisableHookArgs") -> None:
    """Interrupt again: Python drops Ctrl-C that comes in a finalizer or a callback of the garbage collector."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    from threading import Timer, main_thread

    # not at once, which would be dropped, too
    again = Timer(AGAIN_SECONDS, lambda: signal.pthread_kill(main_thread().ident or 0, signal.SIGINT))
    again.daemon = True
    again.start()


def be(imported: Callable[[], Callable[[], object]]) -> None:
    """Import a command and run it; exit with its code."""
    _open_standard_streams()
    sys.unraisablehook = _not_lost
    try:
        try:
            imported()()
        finally:
            # a failure can still be reported here
            sys.stdout.flush()
    except KeyboardInterrupt:
        code: object = INTERRUPTED
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        if error.errno != errno.EPIPE:
            _tell(f"cannot write the output: {error.strerror}")
        code = 1
    except SystemExit as end:
        code = end.code
    # it ends already
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _be_silent()
    # imported before it is needed, and no earlier: it must not delay a command
    from kubesched.common.last_resort import LastResort

    LastResort(code).start()
    sys.exit(code)  # type: ignore[arg-type]


def _open_standard_streams() -> None:
    """Put nothing in the place of standard streams that are closed, lest sockets and databases get their numbers."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # the lowest number that is free, which is this one
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _tell(line: str) -> None:
    with suppress(OSError):
        print(line, file=sys.stderr)


def _be_silent() -> None:
    """Discard buffered output of streams that cannot be written: the interpreter would complain at exit."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
