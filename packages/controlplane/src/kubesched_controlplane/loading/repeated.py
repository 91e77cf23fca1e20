"""Messages about many objects: one line for each message, with the first object and the number of further ones.

From objects and messages to lines.
"""

from kubesched.manifests import Manifest


class RepeatedMessages:
    """Messages about objects; messages that differ only in the name of the object are one."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], str] = {}
        self._count: dict[tuple[str, str], int] = {}

    def add(self, manifest: Manifest, text: str) -> None:
        """Add a message about an object."""
        key = (manifest.kind, text.replace(f'"{manifest.name}"', '""'))
        self._lines.setdefault(key, f"{manifest.named}: {text}")
        self._count[key] = self._count.get(key, 0) + 1

    def lines(self) -> list[str]:
        """Return a line for each message."""
        return [
            line if self._count[key] == 1 else f"{line} (and {self._count[key] - 1} more)"
            for key, line in self._lines.items()
        ]
