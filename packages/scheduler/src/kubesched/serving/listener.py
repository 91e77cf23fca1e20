"""The listening socket: from an address to a socket, or one sentence that names the flag to change."""

# upstream: apiserver/pkg/server/options/serving.go (v1.36)

import contextlib
import errno
import socket
from ipaddress import ip_address

from kubesched.serving.options import ServingError, ServingOptions

BACKLOG = 128
_HINTS = {
    errno.EADDRINUSE: "another process listens there: stop it, or choose another --secure-port",
    errno.EADDRNOTAVAIL: "this machine has no such address: choose another --bind-address",
    errno.EACCES: "ports below 1024 need privileges: choose another --secure-port",
}


def listen(options: ServingOptions) -> socket.socket:
    """Return a socket that listens at the configured address; ServingError if that fails."""
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
        # Go's listeners always set it; --permit-address-sharing adds nothing
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
