"""Errors that an event loop reports outside of any task.

If both sides close a TLS connection at once, this can fail in the loop's own code. The connection is closed
nevertheless, so such errors are logged at DEBUG, and all other errors as errors.
"""

import asyncio
import logging
from typing import Any

_LOGGER = logging.getLogger("asyncio")


def quiet_closed_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Log errors of connections that are closing or closed at DEBUG from now on."""
    loop.set_exception_handler(_handle)


def _handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if _is_of_closed_connection(context):
        _LOGGER.debug("%s: %s", context.get("message"), context.get("exception"))
    else:
        loop.default_exception_handler(context)


def _is_of_closed_connection(context: dict[str, Any]) -> bool:
    # uvloop's transports are no asyncio.BaseTransports, and raise RuntimeError for operations on a closed handle
    is_closing = getattr(context.get("transport"), "is_closing", None)
    return is_closing is not None and is_closing() and isinstance(context.get("exception"), (OSError, RuntimeError))
