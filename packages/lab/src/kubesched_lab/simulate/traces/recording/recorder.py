"""The recorder: reports of reflectors as lines of a trace.

    reports of reflectors ──▶ Recorder ──▶ lines ──▶ RecordingFile

From new, changed or deleted objects to lines with times. A change of unrecorded fields (a heartbeat, a decision of the
scheduler) makes no line. The recorder keeps a digest of each existing object, so that a repeated report, or a list
after a gap, makes no second line.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from hashlib import blake2b
from typing import Any

import msgspec

from kubesched.api.codec import encode
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.api.storage import StorageClass
from kubesched_lab.simulate.traces.recording.recorded_objects import is_static, is_waiting_class, recorded, undecided

Key = tuple[str, str]
# writes the fields of a line
WriteLine = Callable[[Mapping[str, Any]], None]


class RecordedObject(msgspec.Struct):
    """The state of a recorded object: a digest, and when a pod was bound."""

    uid: str
    digest: bytes
    bound_at: float | None = None


class Recorder:
    """Writes a line for each event; `clock` returns the seconds since the beginning of the recording."""

    def __init__(
        self,
        write: WriteLine,
        clock: Callable[[], float],
        shift: timedelta,
        known: Mapping[Key, RecordedObject] | None = None,
        at: float = 0.0,
    ) -> None:
        self._write = write
        self._clock = clock
        self._shift = shift
        self._known = dict(known or {})
        self._at = at
        # returns whether a kind is being listed: a new object of the list may be older
        self.is_listing: Callable[[str], bool] = lambda kind: False
        self._begun = self._beginning = False
        self._waiting_classes: set[str] = set()
        # whether finished pods are reported; otherwise they are dropped
        self.reports_finished = False
        # number of lines after the beginning
        self.events = 0

    # -- the beginning

    def begin(self, objects: Iterable[ApiObject]) -> None:
        """Record all existing objects, or their differences from the known ones: nodes first, pods last."""
        found = sorted((obj for obj in objects if not _is_over(obj)), key=_order)
        self._waiting_classes.update(obj.name for obj in found if is_waiting_class(obj))
        there = {_key(obj) for obj in found}
        resumed = bool(self._known)
        for key in [key for key in self._known if key not in there]:
            self._record_end(key, ended=True)
        self._begun = self._beginning = True
        for obj in found:
            if resumed:
                self.put(obj)
            else:
                self._begin_with(obj)
        self._beginning = False

    def forms_of(self, objects: Iterable[ApiObject]) -> Iterator[ApiObject]:
        """Yield the recorded forms of objects."""
        return (recorded(obj, self._shift) for obj in objects)

    def write_again(self, objects: Iterable[ApiObject]) -> None:
        """Write recorded objects once more, as changes."""
        for obj in objects:
            if _key(obj) in self._known:
                compared = undecided(recorded(obj, self._shift), self._waiting_classes)
                if compared is not None:
                    self._line("change", compared)

    def _begin_with(self, obj: ApiObject) -> None:
        form = recorded(obj, self._shift)
        compared = undecided(form, self._waiting_classes) or form
        bound_at = 0.0 if isinstance(obj, Pod) and obj.spec.node_name else None
        self._known[_key(obj)] = RecordedObject(obj.uid, _digest(compared), bound_at)
        self._write({"at": 0, "object": form})

    # -- reports of reflectors

    def put(self, obj: ApiObject) -> None:
        """Record a new or changed object."""
        if not self._begun:
            return
        if _is_over(obj):
            self._record_end(_key(obj), ended=True)
            return
        if isinstance(obj, StorageClass):
            (self._waiting_classes.add if is_waiting_class(obj) else self._waiting_classes.discard)(obj.name)
        key = _key(obj)
        known = self._known.get(key)
        if known is not None and known.uid != obj.uid:
            self._record_end(key, ended=True)
            known = None
        form = recorded(obj, self._shift)
        compared = undecided(form, self._waiting_classes)
        if known is None:
            self._add(key, obj, form, compared)
        elif compared is not None and (digest := _digest(compared)) != known.digest:
            known.digest = digest
            self._line("change", compared)
        if isinstance(obj, Pod):
            self._see_binding(key, obj)

    def drop(self, obj: ApiObject) -> None:
        """Record a deleted object; a pod may have completed."""
        if self._begun:
            ended = isinstance(obj, Pod) and not obj.terminating and not self.reports_finished
            self._record_end(_key(obj), ended=ended)

    def _add(self, key: Key, obj: ApiObject, form: ApiObject, compared: ApiObject | None) -> None:
        if compared is None:
            return
        known = self._known[key] = RecordedObject(obj.uid, _digest(compared))
        listed = self._beginning or self.is_listing("Pod")
        if isinstance(obj, Pod) and obj.spec.node_name and (is_static(obj) or not listed):
            # created with a node: no scheduler has chosen it
            self._line("object", form)
            known.bound_at = self._at
            return
        self._line("object", compared)

    def _see_binding(self, key: Key, pod: Pod) -> None:
        known = self._known[key]
        if pod.spec.node_name and known.bound_at is None:
            self._line("bound", pod.full_name, node=pod.spec.node_name)
            known.bound_at = self._at

    def _record_end(self, key: Key, *, ended: bool) -> None:
        known = self._known.pop(key, None)
        if known is None:
            return
        kind, full_name = key
        if known.bound_at is None:
            self._line("delete", f"{kind}/{full_name}")
            return
        ran = round(max(0.0, self._now() - known.bound_at), 3)
        if ended:
            self._line("ended", full_name, ran=ran)
        else:
            self._line("delete", f"{kind}/{full_name}", ran=ran)

    def _line(self, field: str, value: object, **more: object) -> None:
        self.events += 1
        self._write({"at": self._now(), field: value, **more})

    def _now(self) -> float:
        """Return the time, which never decreases."""
        self._at = max(self._at, round(self._clock(), 3))
        return self._at


def known_object(obj: ApiObject, waiting_classes: Iterable[str], bound_at: float | None) -> RecordedObject:
    """Return the state of an object that a recorder has recorded."""
    compared = undecided(obj, set(waiting_classes)) or obj
    return RecordedObject(obj.uid, _digest(compared), bound_at)


def _is_over(obj: ApiObject) -> bool:
    return isinstance(obj, Pod) and obj.terminal


def _key(obj: ApiObject) -> Key:
    return type(obj).__name__, obj.full_name


def _order(obj: ApiObject) -> int:
    return 0 if isinstance(obj, Node) else 2 if isinstance(obj, Pod) else 1


def _digest(obj: ApiObject) -> bytes:
    return blake2b(encode(obj), digest_size=16).digest()
