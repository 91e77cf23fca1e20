"""The listening socket and its connections: how they are accepted, and that there are never too many.

From an address to connections with TLS. A client that is slow, silent or speaks no TLS holds up nobody: handshakes have
a time limit, and past a number of connections the one that has been quiet for longest makes room.
"""

# upstream: apiserver/pkg/server/options/serving.go, pkg/server/secure_serving.go (v1.36)

import asyncio
import contextlib
import errno
import socket
import ssl
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address

from kubesched.serving.options import Note, ServingError, ServingOptions

BACKLOG = 128
MOST_CONNECTIONS = 500
HANDSHAKE_SECONDS = 32.0
# for a client to take its leave, too
GOODBYE_SECONDS = 0.5
# no descriptors left: others may be closed soon
OUT_OF_DESCRIPTORS_SECONDS = 0.5
_HINTS = {
    errno.EADDRINUSE: "another process listens there: stop it, or choose another --secure-port",
    errno.EADDRNOTAVAIL: "this machine has no such address: choose another --bind-address",
    errno.EACCES: "ports below 1024 need privileges: choose another --secure-port",
}
_GONE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def listen(options: ServingOptions) -> socket.socket:
    """Return a socket that listens where the options say; ServingError if it cannot be had."""
    address = ip_address(options.bind_address or "0.0.0.0")
    if address.is_unspecified and socket.has_dualstack_ipv6():
        # all addresses of both families, as in Go
        family, host = socket.AF_INET6, "::"
    else:
        family, host = (socket.AF_INET, str(address)) if address.version == 4 else (socket.AF_INET6, str(address))
    try:
        return _bound(family, host, options, dual=address.is_unspecified)
    except OSError as error:
        if (
            address.is_unspecified
            and family == socket.AF_INET6
            and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
        ):
            with contextlib.suppress(OSError):
                return _bound(socket.AF_INET, "0.0.0.0", options, dual=False)
        shown = f"[{address}]" if address.version == 6 else str(address)
        hint = _HINTS.get(error.errno or 0, "check --bind-address and --secure-port")
        raise ServingError(f"failed to listen on {shown}:{options.secure_port}: {error.strerror}; {hint}") from None


def _bound(family: int, host: str, options: ServingOptions, *, dual: bool) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        # as Go's listeners always do; --permit-address-sharing asks for no more
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if options.permit_port_sharing:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if dual else 1)
        made.bind((host, options.secure_port))
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


class Connections:
    """Accepts connections on a socket, and keeps their number in bounds."""

    def __init__(
        self,
        listener: socket.socket,
        tls: Callable[[str], ssl.SSLContext],
        protocol: Callable[[], asyncio.Protocol],
        note: Note,
    ) -> None:
        self._listener = listener
        self._tls = tls
        self._protocol = protocol
        self._note = note
        # the quietest first
        self._open: OrderedDict[asyncio.Protocol, socket.socket] = OrderedDict()
        # those that were cut, and are not gone yet
        self._cut: set[asyncio.Protocol] = set()
        self._greetings: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None

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
            # the client left again, or there is nothing to accept it with
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
        """Take note that a connection is in use."""
        if protocol in self._open:
            self._open.move_to_end(protocol)

    def lost(self, protocol: asyncio.Protocol) -> None:
        """Take note that a connection is gone."""
        self._open.pop(protocol, None)
        self._cut.discard(protocol)

    def close(self) -> None:
        """Listen no more."""
        if self._pause is not None:
            self._pause.cancel()
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()

    async def closed(self) -> None:
        """Give up handshakes, and wait until all connections are gone that have been told to end."""
        # by then each has begun, and knows the socket that it has to close
        await asyncio.sleep(0)
        for greeting in list(self._greetings):
            greeting.cancel()
        await asyncio.gather(*self._greetings, return_exceptions=True)
        loop = asyncio.get_running_loop()
        end = loop.time() + 2 * GOODBYE_SECONDS
        while (self._open or self._cut) and loop.time() < end:
            await asyncio.sleep(0.01)
        # handshakes that were given up close their sockets in the loop's next round
        await asyncio.sleep(0)

    async def _greet(self, accepted: socket.socket) -> None:
        protocol = self._protocol()
        self._open[protocol] = accepted
        if len(self._open) > MOST_CONNECTIONS:
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
            # closes the socket itself if the handshake fails
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol,
                accepted,
                ssl=tls,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=GOODBYE_SECONDS,
            )
        except OSError:
            # no TLS, too slow, or gone: nothing that an operator could do about
            self.lost(protocol)
        except asyncio.CancelledError:
            self.lost(protocol)
            raise

    def _cut_quietest(self) -> None:
        if self._open:
            protocol, quietest = self._open.popitem(last=False)
            self._cut.add(protocol)
            with contextlib.suppress(OSError):
                quietest.shutdown(socket.SHUT_RDWR)
