"""Objects that exist but cannot be decoded: they are ignored, and messages of pods that need one give the reason.

From kinds, names and reasons to a text after a message that such an object is not found.
"""

# The most unreadable objects that are stored: users can create any number of them.
MOST = 1000


class UnreadableObjects:
    """(kind, namespace/name) -> why it cannot be decoded."""

    def __init__(self) -> None:
        self._why: dict[tuple[str, str], str] = {}

    def mark(self, kind: str, full_name: str, why: str) -> None:
        """Add an object that cannot be decoded; without a reason, remove it: it is deleted or can be decoded again."""
        if not why:
            self._why.pop((kind, full_name), None)
        elif len(self._why) < MOST:
            self._why[kind, full_name] = why

    def explained(self, message: str, namespace: str) -> str:
        """Return a message about a pod of a namespace, with the reason for each object in it that cannot be decoded."""
        for (_, full_name), why in self._why.items():
            of, _, name = full_name.rpartition("/")
            if of in ("", namespace) and f'"{name}"' in message:
                message += f"; {why}"
        return message
