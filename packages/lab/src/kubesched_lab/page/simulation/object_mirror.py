"""The present objects of a simulated cluster, and their changes since the last report.

From the events for the scheduler to immutable values for the page.
"""

from collections.abc import Callable, Mapping

from kubesched.api.meta import ApiObject
from kubesched.core.loop.inbox import Inbox
from kubesched.core.loop.loop_events import Dropped, LoopEvent, Put

ObjectKey = tuple[str, str]
# an object, None if it was deleted
Changes = Mapping[ObjectKey, ApiObject | None]
Journal = Callable[[int, ObjectKey, ApiObject | None, ApiObject | None], None]


class ObjectMirror(Inbox):
    """Passes events on to the inbox of the running scheduler, and keeps the objects.

    `journal` is called for each change with its number, the object's key, and the object before and after it.
    """

    def __init__(self, journal: Journal) -> None:
        super().__init__(lambda line: None)
        self._journal = journal
        # the number of changes so far
        self.count = 0
        self.target: Inbox | None = None
        self.objects: dict[ObjectKey, ApiObject] = {}
        self._changes: dict[ObjectKey, ApiObject | None] = {}

    def post(self, event: LoopEvent) -> None:
        """Record an event, and pass it on."""
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

    def report_all(self, inbox: Inbox) -> None:
        """Report all objects to a starting scheduler, and from now on all changes."""
        self.target = inbox
        for obj in self.objects.values():
            inbox.post(Put(obj))

    def take_changes(self) -> Changes:
        """Return the changes since the last call."""
        changes, self._changes = self._changes, {}
        return changes
