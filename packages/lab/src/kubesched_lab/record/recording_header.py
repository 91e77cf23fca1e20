"""The first line of a recording: the cluster, the start, the kinds that were left out.

From a header to a line, and back.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from kubesched import __version__

VERSION = 1


class RecordingHeader(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The source of a recording; `began` is its start, which an anonymised recording hides."""

    version: int
    kubesched: str = ""
    kubernetes: str = ""
    began: datetime | None = None
    anonymised: bool = False
    # kinds that could not be read
    left_out: Sequence[str] = ()


class HeaderLine(msgspec.Struct, frozen=True):
    """The line with the header."""

    recording: RecordingHeader


def new_header(
    began: datetime, kubernetes: str, left_out: Sequence[str] = (), *, anonymised: bool = False
) -> RecordingHeader:
    """Return the header of a new recording."""
    return RecordingHeader(VERSION, __version__, kubernetes, None if anonymised else began, anonymised, left_out)
