"""Pods of one template share their specification, labels and owners, so that many pods take little memory.

From pods as they are decoded to equal pods whose equal parts are one object: specification, labels, owners, and the
conditions of pods that became ready in the same second. Structs are immutable, so sharing is safe. When there are too
many parts, all are forgotten and sharing begins anew.
"""

from collections.abc import Callable
from sys import intern
from typing import Final, TypeVar, cast

import msgspec
from msgspec.structs import replace

from kubesched.api.meta import ApiObject, Condition, OwnerReference
from kubesched.api.pods import Pod, PodSpec
from kubesched.api.volumes import with_source

T = TypeVar("T", bound=ApiObject)

MOST_KEPT: Final = 8192
_encode = msgspec.msgpack.Encoder().encode


def sharing(kind: type[T]) -> Callable[[T], T]:
    """Return the function that shares the parts of objects of a kind; it changes only pods."""
    return cast(Callable[[T], T], SharedPods().share) if kind is Pod else lambda obj: obj


def sharing_with_known(kind: type[T]) -> Callable[[T, T | None], T]:
    """Return the function that shares parts of an object with its known version and with other objects (pods only)."""
    return cast(Callable[[T, T | None], T], SharedPods().renew) if kind is Pod else lambda obj, known: obj


class SharedPods:
    """The parts of pods that other pods may share."""

    def __init__(self) -> None:
        self._specs: dict[bytes, PodSpec] = {}
        self._labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._owners: dict[tuple[OwnerReference, ...], tuple[OwnerReference, ...]] = {}
        self._conditions: dict[tuple[Condition, ...], tuple[Condition, ...]] = {}

    def share(self, pod: Pod) -> Pod:
        """Return an equal pod whose parts are shared with earlier pods."""
        for kept in (self._specs, self._labels, self._owners, self._conditions):
            if len(kept) > MOST_KEPT:
                kept.clear()
        meta, status = pod.metadata, pod.status
        return replace(
            pod,
            api_version=intern(pod.api_version),
            kind=intern(pod.kind),
            metadata=replace(
                meta,
                namespace=intern(meta.namespace),
                labels=self._labels.setdefault(tuple(meta.labels.items()), meta.labels),
                owner_references=self._owners.setdefault(meta.owner_references, meta.owner_references),
            ),
            spec=self._spec(pod.spec),
            status=replace(
                status,
                phase=intern(status.phase),
                conditions=self._conditions.setdefault(status.conditions, status.conditions),
            ),
        )

    def renew(self, pod: Pod, known: Pod | None) -> Pod:
        """Return an equal pod that shares its parts with its known version, or with earlier pods.

        Most reports change the status alone: comparing the rest takes less time than finding shared parts.
        """
        if known is None or known.metadata.uid != pod.metadata.uid:
            return self.share(pod)
        spec = pod.spec
        if spec.volumes:
            spec = replace(spec, volumes=with_source(spec.volumes))
        if spec != known.spec:
            return self.share(pod)
        meta, before, status = pod.metadata, known.metadata, pod.status
        return replace(
            pod,
            api_version=intern(pod.api_version),
            kind=intern(pod.kind),
            metadata=replace(
                meta,
                name=before.name,
                namespace=before.namespace,
                uid=before.uid,
                labels=before.labels if meta.labels == before.labels else meta.labels,
                annotations=before.annotations if meta.annotations == before.annotations else meta.annotations,
                owner_references=(
                    before.owner_references
                    if meta.owner_references == before.owner_references
                    else meta.owner_references
                ),
            ),
            spec=known.spec,
            status=replace(status, phase=intern(status.phase)),
        )

    def _spec(self, spec: PodSpec) -> PodSpec:
        """Return a spec that shares all parts but its node name, without volumes that have only a name."""
        node_name = spec.node_name
        if node_name or spec.volumes:
            common = replace(spec, node_name="", volumes=with_source(spec.volumes))
        else:
            common = spec
        try:
            common = self._specs.setdefault(_encode(common), common)
        except OverflowError:
            # a quantity that is written as a number beyond 64 bits
            return spec
        return replace(common, node_name=intern(node_name)) if node_name else common
