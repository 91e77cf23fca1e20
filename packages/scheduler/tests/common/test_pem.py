"""PEM texts: blocks are found, and texts that are none cost no more than their length."""

from typing import Any

import pytest

from kubesched.common.pem import certificate_blocks, key_block

BEGIN, END = b"-----BEGIN CERTIFICATE-----\n", b"-----END CERTIFICATE-----"
KEY = b"-----BEGIN EC PRIVATE KEY-----\nx\n-----END EC PRIVATE KEY-----"


class Counted(bytes):
    """Bytes that count how much of them is searched."""

    searched = 0

    def find(self, *args: Any) -> int:
        start = args[1] if len(args) > 1 else 0
        found = super().find(*args)
        type(self).searched += (found if found >= 0 else len(self)) - start
        return found


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (b"", []),
        (BEGIN * 3, []),
        (b"# a\n" + BEGIN + b"a\n" + END + b"\n" + BEGIN + b"b\n" + END, [b"a", b"b"]),
        (BEGIN + b"a\n" + END + b"\n" + BEGIN, [b"a"]),
    ],
)
def test_certificates_are_found(text: bytes, blocks: list[bytes]) -> None:
    assert certificate_blocks(text) == [BEGIN + each + b"\n" + END for each in blocks]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (KEY, KEY),
        (b"-----BEGIN PRIVATE KEY-----\nx" + KEY, KEY),
        (b"-----BEGIN PRIVATE KEY-----\nx", None),
        (b"", None),
    ],
)
def test_the_first_whole_key_is_found(text: bytes, found: bytes | None) -> None:
    assert key_block(text) == found


def test_beginnings_without_end_are_searched_once() -> None:
    for text in (Counted(BEGIN * 10_000), Counted(b"-----BEGIN PRIVATE KEY-----\n" * 10_000)):
        Counted.searched = 0
        assert certificate_blocks(text) == []
        assert key_block(text) is None
        assert Counted.searched <= 4 * len(text)
