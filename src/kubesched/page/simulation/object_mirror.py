"""All objects of a simulated cluster as they are now, and what has changed since they were last reported.

From what the simulated cluster tells the scheduler to immutable values for the page.
"""

from collections.abc import Callable, Mapping

from kubesched.api.meta import ApiObject
from kubesched.core.loop.inbox import Inbox
from kubesched.core.loop.loop_events import Dropped, LoopEvent, Put

ObjectKey = tuple[str, str]
# an object, None if it is gone
Changes = Mapping[ObjectKey, ApiObject | None]
Journal = Callable[[int, ObjectKey, ApiObject | None, ApiObject | None], None]


class ObjectMirror(Inbox):
    """Passes events on to the inbox of the scheduler that runs, and keeps the objects.

    `journal` is told of each change: its number, the object's key, what it was and what it is.
    """

    def __init__(self, journal: Journal) -> None:
        super().__init__(lambda line: None)
        self._journal = journal
        # how many changes there were
        self.count = 0
        self.target: Inbox | None = None
        self.objects: dict[ObjectKey, ApiObject] = {}
        self._changes: dict[ObjectKey, ApiObject | None] = {}

    def post(self, event: LoopEvent) -> None:
        """Keep what an event tells, and pass it on."""
        if isinstance(event, Put | Dropped):
            key = (type(event.obj).__name__, event.obj.full_name)
            old, new = self.objects.get(key), event.obj if isinstance(event, Put) else None
            if new is not None:
                self.objects[key] = new
            else:
                self.objects.pop(key, None)
            self._changes[key] = new
            self.count += 1
            self._journal(self.count, key, old, new)
        if self.target is not None:
            self.target.post(event)

    def tell_all(self, inbox: Inbox) -> None:
        """Tell a scheduler that starts of all objects, and from now on of changes."""
        self.target = inbox
        for obj in self.objects.values():
            inbox.post(Put(obj))

    def take_changes(self) -> Changes:
        """Return what has changed since the last call."""
        changes, self._changes = self._changes, {}
        return changes
