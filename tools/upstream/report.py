"""What a comparison finds, and how it is printed."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tools.upstream.accepted import is_accepted


class Section(msgspec.Struct):
    """The comparison of one table: how much was compared, and each difference as a line."""

    title: str
    compared: int
    differences: list[str]
    # what upstream has and kubesched leaves out on purpose
    left_out: list[str] = []

    @property
    def unknown(self) -> list[str]:
        """Return the differences that are not accepted."""
        return [line for line in self.differences if not is_accepted(line)]

    def lines(self) -> Iterator[str]:
        """Yield the section as text."""
        known = len(self.differences) - len(self.unknown)
        yield f"== {self.title}: {self.compared} compared, {len(self.unknown)} different, {known} known to differ"
        yield from (f"   {line}" for line in self.unknown)
        if self.left_out:
            yield f"   only upstream ({len(self.left_out)}): {', '.join(self.left_out)}"


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Yield a line for each key under which two mappings differ, going into mappings below."""
    for key in sorted({*ours, *theirs}):
        name = f"{where}.{key}" if where else key
        if key not in theirs:
            yield f"{name}: not upstream"
        elif key not in ours:
            yield f"{name}: missing here, upstream {theirs[key]!r}"
        elif isinstance(ours[key], Mapping) and isinstance(theirs[key], Mapping):
            yield from differences(ours[key], theirs[key], name)
        elif ours[key] != theirs[key]:
            yield f"{name}: {ours[key]!r} here, {theirs[key]!r} upstream"
