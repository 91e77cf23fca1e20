"""Errors of connections that are closed already are no errors in the log; all others are."""

import asyncio
import logging

import pytest

from kubesched.cli.event_loop import run_loop

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
        loop = asyncio.get_running_loop()
        server = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0)
        transport, _ = await loop.create_connection(asyncio.Protocol, *server.sockets[0].getsockname())
        if closed:
            transport.close()
        context = {"message": "Fatal error on SSL protocol", "exception": error, "transport": transport}
        loop.call_exception_handler(context)
        transport.abort()
        server.close()
        await server.wait_closed()

    with caplog.at_level(logging.DEBUG, "asyncio"):
        run_loop(work())
    found = [record for record in caplog.records if "Fatal error on SSL protocol" in record.getMessage()]
    assert [record.levelno for record in found] == [level]


def test_an_error_without_a_connection_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_exception_handler({"message": "it failed", "exception": OSError("no")})

    run_loop(work())
    assert [record.levelno for record in caplog.records if "it failed" in record.getMessage()] == [logging.ERROR]
