"""Objects that the API server has and that cannot be read: nothing counts on them, and who needs one is told why.

From kinds, names and reasons to words after a message that says such an object is not found.
"""

# so many are remembered; anybody may cause them
MOST = 1000


class UnreadableObjects:
    """(kind, namespace/name) -> why it cannot be read."""

    def __init__(self) -> None:
        self._why: dict[tuple[str, str], str] = {}

    def mark(self, kind: str, full_name: str, why: str) -> None:
        """Take note of an object that cannot be read, or (without a reason) that it is gone or can be read again."""
        if not why:
            self._why.pop((kind, full_name), None)
        elif len(self._why) < MOST:
            self._why[kind, full_name] = why

    def explained(self, message: str, namespace: str) -> str:
        """Return a message about a pod of a namespace, with the reason for each object in it that cannot be read."""
        for (_, full_name), why in self._why.items():
            of, _, name = full_name.rpartition("/")
            if of in ("", namespace) and f'"{name}"' in message:
                message += f"; {why}"
        return message
