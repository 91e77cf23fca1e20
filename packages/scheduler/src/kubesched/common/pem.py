"""The blocks of PEM texts, found in linear time for any input."""

import re

_CERTIFICATE = b"CERTIFICATE"
_KEY = re.compile(rb"-----BEGIN ([A-Z]+ )?PRIVATE KEY-----")


def certificate_blocks(pem: bytes) -> list[bytes]:
    """Return the blocks of certificates, each with its first and last line."""
    begin, end = _lines(_CERTIFICATE)
    found: list[bytes] = []
    start = pem.find(begin)
    while start >= 0:
        stop = pem.find(end, start)
        if stop < 0:
            # later blocks have no end either
            break
        stop += len(end)
        found.append(pem[start:stop])
        start = pem.find(begin, stop)
    return found


def key_block(pem: bytes) -> bytes | None:
    """Return the first block of a private key, None if there is none."""
    without_end = set()
    for begun in _KEY.finditer(pem):
        label = (begun[1] or b"") + b"PRIVATE KEY"
        if label in without_end:
            continue
        end = _lines(label)[1]
        stop = pem.find(end, begun.end())
        if stop >= 0:
            return pem[begun.start() : stop + len(end)]
        without_end.add(label)
    return None


def _lines(label: bytes) -> tuple[bytes, bytes]:
    return b"-----BEGIN " + label + b"-----", b"-----END " + label + b"-----"
