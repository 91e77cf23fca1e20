"""Logs whose lines are handed to callables, each on a logger of its own."""

import logging
from collections.abc import Callable
from datetime import datetime
from itertools import count

from kubesched.run.klog.logs import KlogHandler, Log
from kubesched.run.klog.options import LogOptions

Put = Callable[[str], None]
_numbers = count()


def a_log(options: LogOptions, put: Put, put_error: Put, now: Callable[[], datetime] | None = None) -> Log:
    """Return a log that writes nowhere else; `now` says when its messages are logged."""
    logger = logging.getLogger(f"tests.log-{next(_numbers)}")
    logger.propagate = False
    handler = KlogHandler(options, put, put_error)
    if now is not None:
        handler.formatter.moment = lambda record: now()  # type: ignore[union-attr]
    handler.install(logger)
    return Log(logger, handler)
