"""Connections on a listening socket, accepted up to a limit.

    socket ──▶ a client's first byte ──▶ TLS ──▶ protocol

A client that is slow, silent or speaks no TLS does not delay other clients. Handshakes have a time limit, and a
connection whose handshake has not begun costs a descriptor and next to no memory. At the limit, or without
descriptors, the connection that has been idle for longest is closed; connections with a request in progress are
closed last.
"""

# upstream: apiserver/pkg/server/secure_serving.go (v1.36)

import asyncio
import contextlib
import errno
import resource
import socket
import ssl
from asyncio import sslproto
from collections import OrderedDict
from collections.abc import Callable

from kubesched.common.notes import Note

HANDSHAKE_SECONDS = 32.0
# how long to wait for a client's close_notify
GOODBYE_SECONDS = 0.5
# how long to pause without descriptors: some may be closed soon
OUT_OF_DESCRIPTORS_SECONDS = 0.05
# connections may use this share of the process's descriptors
_SHARE = 0.75
_GONE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def most_connections(wanted: int) -> int:
    """Return the limit of connections: the wanted number, but only a share of the process's descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(4, min(wanted, int(soft * _SHARE)))


class Connections:
    """Accepts connections on a socket, and limits their number."""

    def __init__(
        self,
        listener: socket.socket,
        tls: Callable[[str], ssl.SSLContext | None],
        protocol: Callable[[], asyncio.Protocol],
        note: Note,
        most: int,
    ) -> None:
        self._listener = listener
        self._tls = tls
        self._protocol = protocol
        self._note = note
        self._most = most
        # the connection that has been idle longest comes first
        self._open: OrderedDict[asyncio.Protocol, socket.socket] = OrderedDict()
        # the transports of established connections
        self._transports: dict[asyncio.Protocol, asyncio.Transport] = {}
        # connections that were cut, but are not closed yet
        self._cut: set[asyncio.Protocol] = set()
        self._greetings: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self._stopping = False

    def __len__(self) -> int:
        return len(self._open)

    def open(self) -> None:
        """Accept connections from now on."""
        asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            accepted, _ = self._listener.accept()
        except OSError as error:
            # the client has closed the connection again, or there are no descriptors
            if error.errno in _GONE:
                self._note(f"a connection cannot be accepted: {error.strerror}")
                self._cut_quietest()
                loop.remove_reader(self._listener)
                self._pause = loop.call_later(OUT_OF_DESCRIPTORS_SECONDS, self.open)
            return
        accepted.setblocking(False)
        greeting = loop.create_task(self._greet(accepted))
        self._greetings.add(greeting)
        greeting.add_done_callback(self._greetings.discard)

    def heard(self, protocol: asyncio.Protocol) -> None:
        """Record that a connection has received data."""
        if protocol in self._open:
            self._open.move_to_end(protocol)

    def lost(self, protocol: asyncio.Protocol) -> None:
        """Record that a connection is closed."""
        self._open.pop(protocol, None)
        self._cut.discard(protocol)
        self._transports.pop(protocol, None)

    def close(self) -> None:
        """Close the listening socket; connections that are being established are closed."""
        self._stopping = True
        if self._pause is not None:
            self._pause.cancel()
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()

    async def closed(self) -> None:
        """Cancel handshakes, wait until all connections are closed, and abort connections that take too long."""
        # each handshake task has to start, so that it closes its socket when cancelled
        await asyncio.sleep(0)
        for greeting in list(self._greetings):
            greeting.cancel()
        await asyncio.gather(*self._greetings, return_exceptions=True)
        loop = asyncio.get_running_loop()
        end = loop.time() + 2 * GOODBYE_SECONDS
        while (self._open or self._cut) and loop.time() < end:
            await asyncio.sleep(0.01)
        for transport in list(self._transports.values()):
            transport.abort()
        # sockets are closed in the loop's next turn
        await asyncio.sleep(0)

    async def _greet(self, accepted: socket.socket) -> None:
        protocol = self._protocol()
        self._open[protocol] = accepted
        if len(self._open) > self._most:
            self._cut_quietest()
        try:
            local = str(accepted.getsockname()[0])
            tls = self._tls(local.removeprefix("::ffff:"))
        except Exception as error:
            self._note(f"a connection cannot be served: {type(error).__name__}: {error}")
            self.lost(protocol)
            accepted.close()
            return
        try:
            transport = await (_connect(accepted, protocol) if tls is None else _connect_tls(accepted, protocol, tls))
        except OSError:
            # no TLS, too slow, or closed: not logged, since an operator could not act on it
            self.lost(protocol)
        except asyncio.CancelledError:
            self.lost(protocol)
            raise
        else:
            if self._stopping:
                # too late for the protocol's own shutdown
                transport.abort()
            elif protocol in self._open or protocol in self._cut:
                self._transports[protocol] = transport

    def _cut_quietest(self) -> None:
        """Cut the connection that has been idle longest; if all are in use, the one with the most recent data."""
        for protocol in self._open:
            if not getattr(protocol, "in_use", False):
                break
        else:
            protocol = next(reversed(self._open), None)  # type: ignore[assignment]
        if protocol is not None and self._open:
            quietest = self._open.pop(protocol)
            self._cut.add(protocol)
            with contextlib.suppress(OSError):
                quietest.shutdown(socket.SHUT_RDWR)


async def _connect(accepted: socket.socket, protocol: asyncio.Protocol) -> asyncio.Transport:
    transport, _ = await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, accepted)
    return transport


async def _connect_tls(accepted: socket.socket, protocol: asyncio.Protocol, tls: ssl.SSLContext) -> asyncio.Transport:
    """Wait for a client's first byte, then do the TLS handshake; return the transport."""
    loop = asyncio.get_running_loop()
    end = loop.time() + HANDSHAKE_SECONDS
    try:
        async with asyncio.timeout_at(end):
            await _begins(accepted)
    except BaseException:
        accepted.close()
        raise
    patience = max(0.1, end - loop.time())
    if not isinstance(loop, asyncio.SelectorEventLoop):
        # closes the socket itself if the handshake fails
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol,
            accepted,
            ssl=tls,
            ssl_handshake_timeout=patience,
            ssl_shutdown_timeout=GOODBYE_SECONDS,
        )
        return transport
    greeted: asyncio.Future[None] = loop.create_future()
    session = _SmallTls(
        loop,
        protocol,
        tls,
        greeted,
        server_side=True,
        ssl_handshake_timeout=patience,  # type: ignore[arg-type]
        ssl_shutdown_timeout=GOODBYE_SECONDS,
    )
    transport, _ = await loop.connect_accepted_socket(lambda: session, accepted)
    try:
        await greeted
    except BaseException:
        transport.close()
        raise
    return transport


class _SmallTls(sslproto.SSLProtocol):
    """asyncio's TLS with a buffer of one record instead of 256 KiB for each connection."""

    max_size = 16 * 1024

    def connection_lost(self, exc: BaseException | None) -> None:
        """Drop the TLS session, so that its memory is freed without the garbage collector."""
        super().connection_lost(exc)
        asyncio.get_running_loop().call_soon(self._let_go)

    def _let_go(self) -> None:
        self._sslobj = None
        self._ssl_buffer_view = memoryview(b"")
        self._ssl_buffer = bytearray()


async def _begins(accepted: socket.socket) -> None:
    """Wait for a client's first byte; ConnectionResetError if it closes before."""
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    loop.add_reader(accepted, heard.set)
    try:
        await heard.wait()
    finally:
        loop.remove_reader(accepted)
    if not accepted.recv(1, socket.MSG_PEEK):
        raise ConnectionResetError
