"""Binding volumes: PreBind writes what Reserve assumed, and waits until the volume controller has bound the claims.

From the reservations of a pod to success or the reason why the pod has to be scheduled again. Checks reported objects,
never assumed ones, which other cycles may have changed since.
"""

# upstream: volumebinding/binder.go, BindPodVolumes, bindAPIUpdate, checkBindings (v1.36)

from typing import Any, Final, Literal

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import TranslationError, translated_on
from kubesched.core.cluster.storage.free_volumes import affinity_selector
from kubesched.core.cluster.storage.volume_claims import not_found
from kubesched.core.framework.services.waiting import TimedOut, Waits
from kubesched.core.framework.values.effects import EffectError, Effects, Patch
from kubesched.core.plugins.volume_binding.assuming import BOUND_BY_CONTROLLER, Reserved, take_back
from kubesched.core.plugins.volume_binding.claims import is_fully_bound
from kubesched.core.plugins.volume_binding.search import SELECTED_NODE

# The kinds whose events are checked while a pod waits.
KINDS: Final = ("PersistentVolumeClaim", "PersistentVolume", "Node", "CSINode", "Pod")
DEADLINE_EXCEEDED: Final = "context deadline exceeded"


class VolumeBindingError(Exception):
    """The volumes of a pod cannot be bound any more."""


class Binder:
    """Binds the volumes of pods."""

    def __init__(self, cluster: ClusterState, effects: Effects, waits: Waits, timeout_seconds: float) -> None:
        self._cluster = cluster
        self._effects = effects
        self._waits = waits
        self._timeout_seconds = timeout_seconds

    async def bind(self, pod: PodInfo, node_name: str, reserved: Reserved) -> str:
        """Bind the volumes reserved for a pod; return the error, or the empty text."""
        try:
            await self._write(reserved)
        except EffectError as refused:
            await self._waits.between_cycles(lambda: take_back(self._cluster, reserved))
            return str(refused)
        try:
            check = _Check(self._cluster, pod, node_name, reserved)
            await self._waits.until(check.done, KINDS, self._timeout_seconds)
        except VolumeBindingError as failure:
            return f"binding volumes: {failure}"
        except TimedOut:
            return f"binding volumes: {DEADLINE_EXCEEDED}"
        return ""

    async def _write(self, reserved: Reserved) -> None:
        """Write volumes, then claims; the written object replaces the assumed one."""
        for index, (claim, volume) in enumerate(reserved.bindings):
            written = await self._effects.perform(_claiming(volume))
            reserved.bindings[index] = (claim, written if isinstance(written, PersistentVolume) else volume)
        for index, waiting in enumerate(reserved.provisions):
            written = await self._effects.perform(_selecting(waiting))
            reserved.provisions[index] = written if isinstance(written, PersistentVolumeClaim) else waiting


# differs (D-025): the reference replaces whole objects. The structs here lack the fields that kubesched does not read,
# and these must not be lost. So it sends patches, which contain the version that they are based on


def _claiming(volume: PersistentVolume) -> Patch:
    """Return the patch that sets the claimRef of a volume."""
    reference = volume.spec.claim_ref
    assert reference is not None, "it was bound in Reserve"
    body = _patch_of(volume, BOUND_BY_CONTROLLER)
    body["spec"] = {
        "claimRef": {
            "kind": reference.kind,
            "namespace": reference.namespace,
            "name": reference.name,
            "uid": reference.uid,
            "apiVersion": reference.api_version,
            "resourceVersion": reference.resource_version,
        }
    }
    return Patch("PersistentVolume", "", volume.name, body)


def _selecting(claim: PersistentVolumeClaim) -> Patch:
    """Return the patch that sets the selected-node annotation of a claim."""
    return Patch("PersistentVolumeClaim", claim.namespace, claim.name, _patch_of(claim, SELECTED_NODE))


def _patch_of(obj: ApiObject, annotation: str) -> dict[str, Any]:
    meta = obj.metadata
    body: dict[str, Any] = {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version}}
    if annotation in meta.annotations:
        body["metadata"]["annotations"] = {annotation: meta.annotations[annotation]}
    return body


class _Check:
    """Checks whether all claims of a pod are bound."""

    def __init__(self, cluster: ClusterState, pod: PodInfo, node_name: str, reserved: Reserved) -> None:
        self._cluster = cluster
        self._pod = pod
        self._node_name = node_name
        self._reserved = reserved

    def done(self) -> Literal[True] | None:
        """Return True once all claims are bound; raises VolumeBindingError if they cannot be."""
        node = self._node()
        if self._pod.uid not in self._cluster.table.pods and self._pod.uid not in self._cluster.pending:
            raise VolumeBindingError(f"pod does not exist any more: {not_found('pod', self._pod.name)}")
        for claim, volume in self._reserved.bindings:
            if not self._is_bound(claim, volume, node):
                return None
        for claim in self._reserved.provisions:
            if not self._is_provided(claim, node):
                return None
        return True

    def _node(self) -> Node:
        table = self._cluster.table
        row = table.row_of.get(self._node_name)
        node = None if row is None else table.nodes[row]
        if node is None:
            raise VolumeBindingError(f'failed to get node "{self._node_name}": {not_found("node", self._node_name)}')
        return node

    def _is_bound(self, claim: PersistentVolumeClaim, written: PersistentVolume, node: Node) -> bool:
        volume = self._cluster.objects.get(PersistentVolume, written.name)
        if volume is None:
            raise VolumeBindingError(f"failed to check binding: {not_found('persistentvolumes', written.name)}")
        known = self._claim(claim, "failed to check binding")
        if _is_newer(written, volume, unreported=written.spec.claim_ref != volume.spec.claim_ref):
            return False
        self._check_affinity(volume, node, "failed to translate pv to csi: ")
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise VolumeBindingError(f'ClaimRef got reset for pv "{volume.name}"')
        return is_fully_bound(known)

    def _is_provided(self, written: PersistentVolumeClaim, node: Node) -> bool:
        claim = self._claim(written, "failed to check provisioning pvc")
        if _is_newer(written, claim, unreported=_selected_node(written) != _selected_node(claim)):
            return False
        if not claim.metadata.annotations:
            raise VolumeBindingError(f'selectedNode annotation reset for PVC "{claim.name}"')
        if _selected_node(claim) != self._node_name:
            # a provisioner that fails removes the selected-node annotation
            raise VolumeBindingError(f'provisioning failed for PVC "{claim.name}"')
        if claim.spec.volume_name:
            volume = self._cluster.objects.get(PersistentVolume, claim.spec.volume_name)
            if volume is None:
                # it may not be reported yet
                return False
            self._check_affinity(volume, node, "")
        return is_fully_bound(claim)

    def _claim(self, claim: PersistentVolumeClaim, doing: str) -> PersistentVolumeClaim:
        known = self._cluster.objects.get(PersistentVolumeClaim, claim.full_name)
        if known is None:
            raise VolumeBindingError(f"{doing}: {not_found('persistentvolumeclaims', claim.full_name)}")
        return known

    def _check_affinity(self, volume: PersistentVolume, node: Node, translating: str) -> None:
        """Raise VolumeBindingError if the node affinity of a volume does not match the node's current labels."""
        try:
            volume = translated_on(volume, self._cluster.objects.get(CSINode, node.name))
        except TranslationError as problem:
            raise VolumeBindingError(f"{translating}could not translate pv: {problem}") from None
        selector = affinity_selector(volume)
        if selector is None or selector.matches(node.metadata.labels, ""):
            return
        problem_text = selector.error or "no matching NodeSelectorTerms"
        raise VolumeBindingError(f'pv "{volume.name}" node affinity doesn\'t match node "{node.name}": {problem_text}')


def _selected_node(claim: PersistentVolumeClaim) -> str:
    return claim.metadata.annotations.get(SELECTED_NODE, "")


def _is_newer(written: ApiObject, known: ApiObject, *, unreported: bool) -> bool:
    """Return whether the written object is newer than the reported one.

    Resource versions are numbers. If a write did not return the new version, a reported object with the old version is
    old as long as it lacks the change (`unreported`).
    """
    ours, theirs = written.metadata.resource_version, known.metadata.resource_version
    if ours == theirs:
        return unreported
    return ours.isdecimal() and theirs.isdecimal() and int(ours) > int(theirs)
