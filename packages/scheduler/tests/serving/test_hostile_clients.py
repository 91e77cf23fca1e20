"""Clients that are slow, silent, huge or speak something else, and a scheduler that hangs: health is answered."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from tests.support.processes import SECONDS
from tests.support.serving import Facts, FakeApi, Served, served, trusting

from kubesched.serving.auth.authentication import Authentication
from kubesched.serving.auth.authorization import Authorization
from kubesched.serving.options import ServingOptions
from kubesched.serving.server import Server

OPEN_TO_ALL = ServingOptions(authorization_always_allow_paths=("*",))


def ends(connection: socket.socket) -> bool:
    """Return whether a connection is closed by the other side before long, whatever it says before."""
    connection.settimeout(10)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


def asks(connection: socket.socket, times: int = 1) -> bool:
    """Return whether health is answered on a connection, for as many questions at once."""
    connection.sendall(HEALTH * times)
    received = b""
    while received.count(b"\r\n\r\nok") < times:
        if not (more := connection.recv(65536)):
            return False
        received += more
    return received.count(b"200 OK") == times


@pytest.fixture
def found() -> Iterator[Served]:
    with served(OPEN_TO_ALL) as scheduler:
        yield scheduler


def address(found: Served) -> tuple[str, int]:
    return "127.0.0.1", found.server.port


@pytest.mark.parametrize(
    ("case", "sent"),
    [
        ("HTTP without TLS", b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("noise", bytes(range(256)) * 40),
        ("a record of TLS with noise in it", b"\x16\x03\x01\x02\x00" + b"\xff" * 512),
        ("nothing", b""),
    ],
)
def test_what_is_no_tls(found: Served, case: str, sent: bytes) -> None:
    with socket.create_connection(address(found)) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        assert ends(connection), case
    assert found.fetch("/healthz").code == 200


@pytest.mark.parametrize(
    ("case", "sent", "code"),
    [
        ("no HTTP", b"\x00\x01\x02\r\n\r\n", b"400"),
        ("a word too many", b"GET / / HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
        ("no path", b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
        ("a very long path", b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"431"),
        ("a very long header", b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", b"431"),
        ("very many headers", b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 5000 + b"\r\n", b"431"),
        ("two lengths", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", b"400"),
        ("very many parameters", b"GET /healthz?" + b"a&" * 5000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
        ("a header in no alphabet", b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: \xff\xfe\r\n\r\n", b"200"),
    ],
)
def test_what_is_no_request(found: Served, case: str, sent: bytes, code: bytes) -> None:
    with found.connected() as connection:
        connection.sendall(sent)
        assert connection.recv(65536).split(b" ", 2)[1] == code, case
    assert found.fetch("/healthz").code == 200


@pytest.mark.parametrize(
    ("sent", "line"),
    [
        (b"GET / / HTTP/1.1\r\nHost: a\r\n\r\n", b"400 Bad Request"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"431 Request Header Fields Too Large"),
    ],
)
def test_a_refusal_says_why_in_its_body(found: Served, sent: bytes, line: bytes) -> None:
    with found.connected() as connection:
        connection.sendall(sent)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert received.partition(b"\r\n\r\n")[2] == line


def test_nothing_is_told_about_the_machinery(found: Served) -> None:
    for reply in (found.fetch("/healthz"), found.fetch("/nope"), found.fetch("/metrics%")):
        assert "aiohttp" not in str(reply.headers)
        assert "Python" not in str(reply.headers)


def test_a_client_that_says_nothing_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the handshake, after it, and in the middle of a request."""
    monkeypatch.setattr("kubesched.http.connections.HANDSHAKE_SECONDS", 0.3)
    monkeypatch.setattr("kubesched.http.protocol.IDLE_SECONDS", 0.3)
    with served() as found:
        with socket.create_connection(address(found)) as silent:
            assert ends(silent)
        with found.connected() as connected:
            assert ends(connected)
        with found.connected() as slow:
            slow.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
            assert ends(slow)
        with found.connected() as idle:
            assert asks(idle)
            assert ends(idle)


def test_a_body_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.serving.server.BODY_SECONDS", 0.2)
    with served(OPEN_TO_ALL) as found, found.connected() as connection:
        connection.sendall(b"PUT /debug/flags/v HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1")
        assert b"408 Request Timeout" in connection.recv(65536)


def test_a_client_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer is given up after a while."""
    monkeypatch.setattr("kubesched.serving.server.ANSWER_SECONDS", 0.5)
    facts = Facts()
    facts.metrics = lambda: "x" * 50_000_000
    with served(OPEN_TO_ALL, facts=facts) as found, found.connected() as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            assert found.fetch("/healthz").code == 200
        connection.settimeout(10)
        received = 0
        with suppress(OSError):
            while chunk := connection.recv(1 << 20):
                received += len(chunk)
        assert received < 50_000_000, received


def test_past_a_number_the_quietest_connection_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.serving.server.MOST_CONNECTIONS", 5)
    with served() as found, ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(address(found))) for _ in range(3)]
        speaking = stack.enter_context(found.connected())
        for _ in range(20):
            assert found.fetch("/healthz").code == 200
            assert asks(speaking)
            stack.enter_context(socket.create_connection(address(found)))
        assert all(ends(connection) for connection in silent)


def test_a_storm_of_bad_tokens_is_one_line_in_the_log() -> None:
    with served(api=FakeApi()) as found:
        for number in range(30):
            assert found.fetch("/metrics", {"Authorization": f"Bearer wrong-{number}"}).code == 401
        assert sum("Unable to authenticate" in note for note in found.notes) == 1


def test_requests_on_one_connection(found: Served) -> None:
    """One after the other, and all at once."""
    with found.connected() as connection:
        assert all(asks(connection) for _ in range(3))
        assert asks(connection, 10)


# -- the scheduler's side


HANGING = """
import time
from tests.support.serving import served
with served() as found:
    print(found.server.port, flush=True)
    # a plugin that never lets go: pure Python in the main thread
    end = time.monotonic() + 120
    while time.monotonic() < end:
        sum(range(1000))
"""


def test_health_is_answered_while_the_scheduler_hangs() -> None:
    process = subprocess.Popen([sys.executable, "-c", HANGING], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        for _ in range(5):
            started = time.monotonic()
            with (
                socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as plain,
                trusting().wrap_socket(plain) as connection,
            ):
                connection.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
                assert b"200 OK" in connection.recv(65536)
            assert time.monotonic() - started < SECONDS
    finally:
        process.kill()
        process.communicate()


def test_stopping_lets_requests_finish_and_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.serving.server.STOP_SECONDS", 1.0)
    facts, begun = Facts(), threading.Event()
    answers: list[str] = []

    def slowly() -> str:
        begun.set()
        time.sleep(0.2)
        return "done\n"

    facts.metrics = slowly
    with served(OPEN_TO_ALL, facts=facts) as found, found.connected() as idle:
        asking = threading.Thread(target=lambda: answers.append(found.fetch("/metrics").body))
        asking.start()
        assert begun.wait(10)
        started = time.monotonic()
        found.server.stop()
        asking.join(10)
        assert answers == ["done\n"]
        assert time.monotonic() - started < SECONDS
        assert ends(idle)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(address(found))
        assert not any(thread.name == "serving" for thread in threading.enumerate())


def test_without_a_port_nothing_is_served() -> None:
    """And stopping what was never started does nothing."""
    options, facts = ServingOptions(secure_port=0), Facts()
    before = threading.active_count()
    server = Server(
        options,
        facts.checks(),
        facts.pages(),
        Authentication(options, None, lambda line: None),
        Authorization(options, None, lambda line: None),
        lambda line: None,
    )
    server.start()
    assert threading.active_count() == before
    server.stop()


def test_a_verbosity_of_any_number_of_digits_is_refused_or_taken(found: Served) -> None:
    for digits, code in (("9" * 5000, 400), ("9" * 60_000, 400), ("0" * 5000 + "3", 200)):
        assert found.fetch("/debug/flags/v", method="PUT", body=digits.encode()).code == code
