"""The model: the scheduler's engine over the objects of a cluster, for questions.

From objects and a configuration to an engine, pods and nodes by name, and forks: the cluster with some changed
objects, reverted at the end. The model makes no requests and calls no extenders.
"""

import difflib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

from kubesched.api.codec import decode, to_builtins
from kubesched.api.kinds import API_VERSIONS
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Namespace, Node
from kubesched.api.pods import Pod
from kubesched.api.quantity import InvalidQuantityError
from kubesched.api.quantity_places import invalid_quantities
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.services.background import NoBackground
from kubesched.core.framework.values.status import Status
from kubesched.core.queue.pre_enqueue import refusal_of
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.json_patch import OperationError, json_patched
from kubesched.model.cluster_objects import OUTSIDE, ClusterObjects, Gap
from kubesched.reports.answers import ObjectChange, ObjectName

DEFAULT_SCHEDULER = "default-scheduler"
# limit on the gaps about invalid objects
MOST_GAPS = 10
# limit on the names that are compared with an unknown one
MOST_COMPARED = 50_000
NOT_COUNTED = "answers ignore it"


class UnknownObjectError(KubeschedError):
    """A pod, node or other object that the cluster does not have; the message suggests the nearest names."""


class ClusterModel:
    """An engine over the objects of a cluster."""

    def __init__(self, objects: ClusterObjects, loaded: Loaded, registry: Registry | None = None) -> None:
        self.source = objects
        self.loaded = loaded
        self.registry = registry
        self.engine = engine_of(loaded, registry)
        self.cluster = self.engine.cluster
        # whether the caller asks the extenders about pods of the model
        self.asks_extenders = False
        # pods by `namespace/name`, with and without a node
        self.pods: dict[str, PodInfo] = {}
        # invalid objects, and why they are invalid
        self._left_out: dict[ObjectName, str] = {}
        # rows in the order of names, so that equal clusters give equal answers
        for obj in sorted(objects.objects, key=_nodes_first):
            self.set_if_valid(name_of_object(obj), obj)
        self._drop_idle_nominations()

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return the unread parts of the cluster, and the resulting uncertainty."""
        gaps = list(self.source.gaps)
        extenders = self.loaded.config.extenders
        if extenders and not self.asks_extenders:
            names = ", ".join(extender.shown_url for extender in extenders)
            gaps.append(Gap(f"extenders {names}", "they are not called", "they may reject more nodes"))
        background = self.engine.services.background
        for plugin in background.idle if isinstance(background, NoBackground) else ():
            what = f"data that plugin {plugin} reads from outside"
            gaps.append(Gap(what, "it is not read here", "the plugin answers without that data"))
        for name, why in islice(self._left_out.items(), MOST_GAPS):
            gaps.append(Gap(str(name), why, NOT_COUNTED))
        if len(self._left_out) > MOST_GAPS:
            more = f"{len(self._left_out) - MOST_GAPS} more objects"
            gaps.append(Gap(more, "they are invalid", NOT_COUNTED))
        return tuple(gaps)

    def objects_now(self) -> ClusterObjects:
        """Return the source with the model's current objects, after all changes."""
        objects = self.cluster.objects
        nodes = (node for node in self.cluster.table.nodes if node is not None)
        others = (obj for kind in objects.kinds() for obj in objects.named(kind))
        return replace(self.source, objects=(*nodes, *others, *(pod.pod for pod in self.pods.values())))

    # -- look-ups

    def pod(self, full_name: str) -> PodInfo:
        """Return a pod by `namespace/name`, or by its name in the source's namespace; raises UnknownObjectError."""
        if "/" not in full_name:
            full_name = f"{self.source.namespace}/{full_name}"
        found = self.pods.get(full_name)
        if found is None:
            raise self._unknown_pod(full_name)
        return found

    @property
    def unread_pods(self) -> Gap | None:
        """Return the gap about pods outside the only readable namespace, if there is one."""
        return next((gap for gap in self.gaps if gap.what.startswith(f"{Pod.__name__}{OUTSIDE}")), None)

    def _unknown_pod(self, full_name: str) -> UnknownObjectError:
        unread = self.unread_pods
        if unread is not None and not full_name.startswith(f"{unread.what.partition(OUTSIDE)[2]}/"):
            return UnknownObjectError(f"pod {full_name} cannot be read: {unread.why}")
        namespace, _, pod = full_name.partition("/")
        namesakes = sorted(name for name in self.pods if name.endswith(f"/{pod}"))[:3]
        if not namesakes and (self.source.only_namespace or namespace != self.source.namespace):
            self.check_namespace(namespace)
        likely = namesakes or nearest_pods(full_name, self.pods)
        hint = f"; did you mean {' or '.join(likely)}?" if likely else nearest(full_name, self.pods)
        # live sources leave out finished pods
        finished = ", or it has finished" if self.source.server is not None else ""
        return UnknownObjectError(f"there is no pod {full_name}{finished}{hint}")

    def full_name(self, name: str) -> str:
        """Return `namespace/name` for the name of a pod in one of the forms `web`, `shop/web`, `pod/web`."""
        if name.count("/") == 1:
            name = name.removeprefix("pod/").removeprefix("pods/")
        return name if "/" in name else f"{self.source.namespace}/{name}"

    def check_namespace(self, name: str) -> None:
        """Raise UnknownObjectError if namespaces are readable and none has this name; an empty name means all."""
        known = {each.name for each in self.cluster.objects.of(Namespace)}
        if known and name and name not in known | {pod.namespace for pod in self.pods.values()}:
            raise UnknownObjectError(f"there is no namespace {name}{nearest(name, known)}")

    def node(self, name: str) -> Node:
        """Return a node; raises UnknownObjectError."""
        table = self.cluster.table
        row = table.row_of.get(name)
        node = table.nodes[row] if row is not None else None
        if node is None:
            raise UnknownObjectError(f"there is no node {name}{nearest(name, self.node_names())}")
        return node

    def node_names(self) -> list[str]:
        """Return the names of all nodes, sorted."""
        table = self.cluster.table
        return sorted(table.names[row] for row in table.present_rows().tolist())

    def profile_of(self, pod: PodInfo) -> Profile | None:
        """Return the profile that schedules a pod; None if the pod belongs to another scheduler."""
        return self.engine.profiles.get(pod.spec.scheduler_name or DEFAULT_SCHEDULER)

    def find(self, name: ObjectName) -> ApiObject | None:
        """Return an object, None if the cluster does not have it."""
        if name.kind == Pod.__name__:
            pod = self.pods.get(f"{name.namespace}/{name.name}")
            return pod.pod if pod is not None else None
        if name.kind == Node.__name__:
            row = self.cluster.table.row_of.get(name.name)
            return self.cluster.table.nodes[row] if row is not None else None
        full_name = f"{name.namespace}/{name.name}" if name.namespace else name.name
        return self.cluster.objects.find(name.kind, full_name)

    # -- forks

    @contextmanager
    def fork(self, changes: Iterable[ObjectChange]) -> Iterator[None]:
        """Change objects until the block ends; then the model is as before. Forks may be nested."""
        before: list[tuple[ObjectName, ApiObject | None]] = []
        try:
            for change in changes:
                old = self.find(change.object)
                before.append((change.object, old))
                self.set_object(change.object, changed(change, old))
            yield
        finally:
            for name, old in reversed(before):
                self.set_object(name, old)

    @contextmanager
    def without_pods(self, pods: Iterable[PodInfo]) -> Iterator[None]:
        """Take pods out of the cluster until the block ends."""
        with self.fork(ObjectChange(name_of_object(pod.pod), delete=True) for pod in pods):
            yield

    def read(self, pod: Pod) -> PodInfo:
        """Return a pod in the form for plugins; it may be absent from the cluster."""
        return self.cluster.reader.read(pod)

    def set_object(self, name: ObjectName, obj: ApiObject | None) -> None:
        """Put an object into the cluster, or remove the object of that name; `fork` and `Placer` undo it."""
        if obj is not None:
            self._put(obj)
            return
        old = self.find(name)
        if old is not None:
            self.cluster.remove(old)
            self.pods.pop(old.full_name, None)

    def set_if_valid(self, name: ObjectName, obj: ApiObject | None) -> bool:
        """Do as `set_object`, but leave out an invalid object; return whether it was accepted."""
        self._left_out.pop(name, None)
        try:
            self.set_object(name, obj)
        except InvalidObjectError as error:
            self._left_out[name] = _why_not_understood(obj, error)
            if self.find(name) is obj:
                # it was added in part
                self.set_object(name, None)
            return False
        return True

    def _put(self, obj: ApiObject) -> None:
        if not isinstance(obj, Pod):
            self.cluster.add(obj)
        elif not obj.terminal:
            info = self.pods[obj.full_name] = self.cluster.reader.read(obj)
            self.cluster.put_pod(info)

    def _drop_idle_nominations(self) -> None:
        """Drop the nominations of pods that no profile schedules, or that PreEnqueue holds back."""
        for pod in list(self.cluster.pending.values()):
            if pod.status.nominated_node_name:
                profile = self.profile_of(pod)
                if profile is None or gates_of(profile, pod):
                    self.cluster.clear_nomination(pod.uid)


def _why_not_understood(obj: ApiObject | None, error: InvalidObjectError) -> str:
    """Return why an object is invalid, with the fields that are no quantities."""
    if obj is None or not isinstance(error, InvalidQuantityError):
        return str(error)
    places = [path for path, _ in invalid_quantities(to_builtins(obj))]
    return f"{', '.join(places)}: {error}" if places else str(error)


def name_of_object(obj: ApiObject) -> ObjectName:
    """Return the name of an object, with the version that it is written in."""
    kind = type(obj).__name__
    return ObjectName(obj.api_version or API_VERSIONS.get(kind, ""), kind, obj.namespace, obj.name)


def changed(change: ObjectChange, old: ApiObject | None) -> ApiObject | None:
    """Return an object after a change, None after its deletion; raises UnknownObjectError if it does not exist."""
    if change.create is not None:
        return decode(change.create)
    if change.delete:
        return None
    if old is None:
        raise UnknownObjectError(f"{change.object} cannot be changed: it does not exist")
    try:
        return decode(json_patched(to_builtins(old), list(change.patch or ())))
    except OperationError as error:
        raise KubeschedError(f"{change.object}: the patch cannot be applied: {error}") from None


def gates_of(profile: Profile, pod: PodInfo) -> list[Status]:
    """Return the statuses with which PreEnqueue plugins hold a pod back."""
    return [status for plugin in profile.pre_enqueue if (status := refusal_of(plugin, pod)) is not None]


def nearest(name: str, known: Collection[str]) -> str:
    """Return the end of a sentence: the known names nearest to a name, or their number."""
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5) if len(known) <= MOST_COMPARED else []
    if close:
        return f"; did you mean {' or '.join(close)}?"
    return f"; there are {len(known)}, such as {', '.join(sorted(known)[:3])}" if known else "; there are none"


def nearest_pods(full_name: str, known: Collection[str]) -> list[str]:
    """Return the pods with the most similar names (or names of workloads), preferring the name's namespace.

    Only as many parts of a name are compared as the wanted name has: controllers append more parts.
    """
    namespace, _, name = full_name.partition("/")
    likely = [pod for pod in known if pod.startswith(f"{namespace}/")] or known
    if len(likely) > MOST_COMPARED:
        return []
    parts = name.count("-") + 1
    by_text: dict[str, str] = {}
    for pod in sorted(likely):
        bare = pod.partition("/")[2]
        by_text.setdefault(bare, pod)
        by_text.setdefault("-".join(bare.split("-")[:parts]), pod)
    return list(dict.fromkeys(by_text[text] for text in difflib.get_close_matches(name, by_text, n=3, cutoff=0.5)))


def _nodes_first(obj: ApiObject) -> tuple[int, str]:
    return (0, obj.name) if isinstance(obj, Node) else (1, "")
