"""The objects that are neither nodes nor pods, which plugins look up by name.

From watch events to dictionaries per kind; each kind belongs to an epoch of the change log, so that derived values are
computed again when it changes. A report (`kept_fields`) replaces the object and changes nothing else.
"""

from collections.abc import Callable
from typing import TypeVar

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.changes import ANYTHING, EVERYWHERE, ChangeLog
from kubesched.core.cluster.kept_fields import is_report
from kubesched.core.cluster.kind_reads import EPOCH_OF_FIELDS, kind_reads
from kubesched.core.cluster.restrictions import may_read
from kubesched.core.cluster.unreadable import UnreadableObjects
from kubesched.errors import PluginError

T = TypeVar("T", bound=ApiObject)
# called with the object before and after a change; None if it did not exist, or does not exist any more
Follower = Callable[[ApiObject | None, ApiObject | None], None]


def full_name(namespace: str, name: str) -> str:
    """Return `namespace/name`, or the bare name of a cluster-scoped object."""
    return f"{namespace}/{name}" if namespace else name


class Objects:
    """kind -> `namespace/name` (or name) -> object."""

    def __init__(self, log: ChangeLog) -> None:
        self._log = log
        self._kinds: dict[str, dict[str, ApiObject]] = {}
        # kind -> number of changes without reports, which readers compare to know whether derived values are stale
        self.versions: dict[str, int] = {}
        self._followers: dict[str, list[Follower]] = {}
        # followers that are not called for reports, see `follow`
        self._field_followers: dict[str, list[Follower]] = {}
        self.unreadable = UnreadableObjects()

    def follow(self, kind: type[ApiObject] | str, follower: Follower, *, reports: bool = True) -> Callable[[], None]:
        """Call a function for every object of a kind that is added, replaced or removed, until the result is called.

        Without `reports` the function is not called for versions that differ in no field that a kept answer depends on.
        """
        name = kind if isinstance(kind, str) else kind.__name__
        followers = (self._followers if reports else self._field_followers).setdefault(name, [])
        followers.append(follower)
        return lambda: followers.remove(follower)

    def put(self, kind: str, obj: ApiObject) -> None:
        """Add or replace an object."""
        objects = self._kinds.setdefault(kind, {})
        old = objects.get(obj.full_name)
        objects[obj.full_name] = obj
        self._changed(kind, old, obj)

    def remove(self, kind: str, full_name: str) -> ApiObject | None:
        """Remove an object; return it, or None if it did not exist."""
        removed = self._kinds.get(kind, {}).pop(full_name, None)
        if removed is not None:
            self._changed(kind, removed, None)
        return removed

    def get(self, kind: type[T], full_name: str) -> T | None:
        """Return the object of a kind under a name."""
        self.check(kind.__name__)
        return self._kinds.get(kind.__name__, {}).get(full_name)  # type: ignore[return-value]

    def of(self, kind: type[T]) -> list[T]:
        """Return all objects of a kind."""
        self.check(kind.__name__)
        return list(self._kinds.get(kind.__name__, {}).values())  # type: ignore[arg-type]

    def kinds(self) -> list[str]:
        """Return the kinds that have objects."""
        return [kind for kind, objects in self._kinds.items() if objects]

    def named(self, kind: str) -> list[ApiObject]:
        """Return all objects of a kind given by name."""
        self.check(kind)
        return list(self._kinds.get(kind, {}).values())

    def find(self, kind: str, full_name: str) -> ApiObject | None:
        """Return the object under a name, of a kind given by name."""
        self.check(kind)
        return self._kinds.get(kind, {}).get(full_name)

    def check(self, kind: str) -> None:
        """Raise PluginError if a plugin whose answer is kept looks up a kind that its `reads` does not name."""
        allowed = may_read(self._log)
        if allowed & ANYTHING != ANYTHING and not allowed & kind_reads(kind):
            raise PluginError(
                f"objects of kind {kind} are looked up, which `reads` does not name: its answer would be kept although "
                f"they change; add kind_reads({kind!r}), or leave `reads` as it is by default"
            )

    def _changed(self, kind: str, old: ApiObject | None, new: ApiObject | None) -> None:
        # kept answers of out-of-tree plugins may depend on any field
        epoch = kind_reads(kind) & self._log.wanted if self._log.wanted else 0
        for follower in self._followers.get(kind, ()):
            follower(old, new)
        if old is None or new is None or not is_report(kind, old, new):
            epoch |= EPOCH_OF_FIELDS.get(kind, 0)
            self.versions[kind] = self.versions.get(kind, 0) + 1
            for follower in self._field_followers.get(kind, ()):
                follower(old, new)
        if epoch:
            self._log.record(EVERYWHERE, epoch)
