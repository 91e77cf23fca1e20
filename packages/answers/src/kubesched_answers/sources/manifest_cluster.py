"""A cluster of manifests, built by an API server and its controllers.

    manifests ──▶ API server ──▶ controllers, until they have settled ──▶ documents

The server fills in defaults and priorities, controllers create pods of Deployments and claims, and nodes become
ready. There is no scheduler: pods that the manifests do not bind stay pending, for questions about them. A
StatefulSet creates all of its pods at once, since none ever becomes ready for the next. Nothing is served.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kubesched.api.codec import to_builtins
from kubesched.api.kinds import API_VERSIONS
from kubesched.api.last_applied import with_last_applied
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched.sources.own_loop import in_own_loop
from kubesched.sources.read_documents import DOCUMENT_KINDS
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.running import new_server
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.simulation import Simulation

# objects of an exported cluster that affect the admission and the defaults of other objects
_CONTEXT = frozenset({"Namespace", "PriorityClass", "StorageClass", "DeviceClass", "VolumeAttributesClass"})
# later timers, such as that of a CronJob, are ignored
NEAR_SECONDS = 1.0
LOOK_SECONDS = 0.01
LONGEST_SECONDS = 60.0
# the field of a StatefulSet, and its default
POD_MANAGEMENT, IN_ORDER = "podManagementPolicy", "OrderedReady"


class Settled(NamedTuple):
    """The objects that manifests result in, and gaps for amounts that the simulated nodes filled in."""

    manifests: list[Manifest]
    gaps: tuple[Gap, ...]


def settled(drafts: Sequence[Manifest], known: Sequence[ClusterObjects] = (), namespace: str = "default") -> Settled:
    """Return the objects that manifests result in, without the known ones; raises KubeschedError.

    `namespace` is the default for manifests without one; it is created.
    """
    server = new_server({}, seed=0)
    # controllers create pods of a DaemonSet for nodes
    wanted = _CONTEXT | ({"Node"} if any(each.kind == "DaemonSet" for each in drafts) else set())
    objects = (obj for part in known for obj in part.objects if type(obj).__name__ in wanted)
    documents = (document for part in known for document in part.admission)
    around = [Manifest("known", document, True) for document in (*map(to_builtins, objects), *documents)]
    create(server, [*around, *_missing_namespace(namespace, [*around, *drafts])])
    report = create(server, [_at_once(_as_applied(server, each, namespace)) for each in drafts])
    if report.problems:
        raise KubeschedError("; ".join(report.problems))
    in_own_loop(_settle(server))
    # known objects stay unchanged, unless a manifest changes them
    old = {_key(each) for each in around} - {_key(each) for each in drafts}
    in_order = {_key(_as_applied(server, each, namespace)) for each in drafts if _is_in_order(each)}
    made = [each for each in _objects(server) if _key(each) not in old]
    gaps = tuple(_filled_in(drafts, made))
    return Settled([_in_order(each) if _key(each) in in_order else each for each in made], gaps)


def _filled_in(drafts: Iterable[Manifest], made: Iterable[Manifest]) -> Iterator[Gap]:
    """Yield a gap for each kind of amounts that manifests of nodes leave out."""
    stated = {each.name: each.document.get("status") for each in drafts if each.kind == "Node"}
    missing: dict[tuple[str, str], list[str]] = {}
    for node in made:
        status = stated.get(node.name) if node.kind == "Node" else None
        if node.kind != "Node" or (isinstance(status, dict) and status.get("allocatable")):
            continue
        allocatable = (node.document.get("status") or {}).get("allocatable") or {}
        amounts = ", ".join(f"{name} {amount}" for name, amount in sorted(allocatable.items())) or "nothing"
        source = "its capacity" if isinstance(status, dict) and status.get("capacity") else "a default"
        missing.setdefault((source, amounts), []).append(node.name)
    for (source, amounts), names in missing.items():
        named = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        why = "the manifest has no status.allocatable"
        yield Gap(f"the capacity of Node {named}", why, f"{source} counts: {amounts}")


def _missing_namespace(name: str, manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the manifest of a namespace, unless it exists."""
    if name == "default" or any(each.kind == "Namespace" and each.name == name for each in manifests):
        return []
    return [Manifest("namespace", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})]


def _as_applied(server: ApiServer, manifest: Manifest, namespace: str) -> Manifest:
    """Return a manifest as kubectl apply sends it: in a namespace, with the last-applied annotation."""
    document = manifest.document
    meta = document.get("metadata")
    if not isinstance(meta, dict):
        return manifest
    resource = server.registry.catalog.of_kind(str(document.get("apiVersion")), manifest.kind)
    if resource is not None and resource.namespaced and not meta.get("namespace"):
        document = {**document, "metadata": {**meta, "namespace": namespace}}
    return manifest._replace(document=with_last_applied(document, manifest.document))


def _is_in_order(manifest: Manifest) -> bool:
    """Return whether a manifest is a StatefulSet that creates its pods in order."""
    spec = manifest.document.get("spec")
    return (
        manifest.kind == "StatefulSet"
        and isinstance(spec, dict)
        and spec.get(POD_MANAGEMENT, IN_ORDER) in (IN_ORDER, "", None)
    )


def _at_once(manifest: Manifest) -> Manifest:
    return _managed(manifest, "Parallel") if _is_in_order(manifest) else manifest


def _in_order(manifest: Manifest) -> Manifest:
    return _managed(manifest, IN_ORDER)


def _managed(manifest: Manifest, policy: str) -> Manifest:
    """Return a StatefulSet with a pod management policy."""
    spec = {**manifest.document["spec"], POD_MANAGEMENT: policy}
    return manifest._replace(document={**manifest.document, "spec": spec})


async def _settle(server: ApiServer) -> None:
    """Run the controllers until they have settled."""
    simulation = Simulation(server)
    simulation.start()
    now = asyncio.get_running_loop().time
    deadline, looks = now() + LONGEST_SECONDS, 0
    try:
        # twice in a row: work that begins in this turn of the loop is visible in the next
        while looks < 2 and now() < deadline:
            looks = looks + 1 if simulation.seconds_left() > NEAR_SECONDS else 0
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        simulation.stop()


def _objects(server: ApiServer) -> list[Manifest]:
    """Return the stored objects of the kinds for questions."""
    wanted = {**API_VERSIONS, **DOCUMENT_KINDS}
    # a kind with several served versions is stored once
    prefixes = {each.prefix: each.kind for each in server.registry.catalog.resources if each.kind in wanted}
    return [
        Manifest(f"{kind} {stored.name}", stored.document())
        for prefix, kind in prefixes.items()
        for stored in server.registry.store.set_of(prefix).in_order()
    ]


def _key(manifest: Manifest) -> tuple[str, str, str]:
    meta = manifest.document.get("metadata") or {}
    return manifest.kind, meta.get("namespace", ""), manifest.name
