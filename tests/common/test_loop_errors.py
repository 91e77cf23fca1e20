"""Errors of connections that are closed already are no errors in the log; all others are."""

import asyncio
import logging

import pytest

from kubesched.cli.event_loop import run_loop


class Connection(asyncio.Transport):
    """A transport that is closed, or not."""

    def __init__(self, *, closed: bool) -> None:
        super().__init__()
        self._closed = closed

    def is_closing(self) -> bool:
        return self._closed


CASES = {
    "a closed connection": (True, RuntimeError("the handler is closed"), logging.DEBUG),
    "a closed connection that is reset": (True, ConnectionResetError("reset"), logging.DEBUG),
    "an open connection": (False, RuntimeError("unable to write"), logging.ERROR),
    "a bug while a connection is closed": (True, KeyError("x"), logging.ERROR),
}


@pytest.mark.parametrize("case", CASES)
def test_errors_of_closed_connections_are_logged_at_debug(case: str, caplog: pytest.LogCaptureFixture) -> None:
    closed, error, level = CASES[case]

    async def work() -> None:
        context = {"message": "Fatal error on SSL protocol", "exception": error}
        asyncio.get_running_loop().call_exception_handler({**context, "transport": Connection(closed=closed)})

    with caplog.at_level(logging.DEBUG, "asyncio"):
        run_loop(work())
    found = [record for record in caplog.records if "Fatal error on SSL protocol" in record.getMessage()]
    assert [record.levelno for record in found] == [level]


def test_an_error_without_a_connection_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_exception_handler({"message": "it failed", "exception": OSError("no")})

    run_loop(work())
    assert [record.levelno for record in caplog.records if "it failed" in record.getMessage()] == [logging.ERROR]
