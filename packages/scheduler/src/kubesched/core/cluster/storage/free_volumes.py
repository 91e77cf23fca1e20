"""The free persistent volumes of a storage class, smallest first, as columns.

From volumes without a claim to, for many rows at once, the smallest volume that satisfies a claim. Each distinct kind
of volumes (mode, access modes, attributes class, labels) is compared with a claim's demand once.
"""

# upstream: component-helpers/storage/volume/pv_helpers.go, FindMatchingVolume (v1.36)

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import Selector
from kubesched.api.meta import ResourceList
from kubesched.api.node_selectors import CompiledNodeSelector
from kubesched.api.quantity import quantity_of, value_of
from kubesched.api.storage import PersistentVolume
from kubesched.core.cluster.columns import Rows
from kubesched.core.cluster.interning import Interner
from kubesched.core.cluster.storage.reach import Offers, Positions, reaching_nodes
from kubesched.core.cluster.table import NodeTable

FILESYSTEM = "Filesystem"
STORAGE = "storage"
# The most cached demands.
DEMANDS = 1024

Size = int | Fraction


class Demand(NamedTuple):
    """The requirements of a claim on a volume, without its size."""

    volume_mode: str
    access_modes: tuple[str, ...]
    attributes_class: str
    selector: Selector | None

    def accepts(self, kind: "VolumeKind") -> bool:
        """Return whether volumes of a kind satisfy the demand."""
        return (
            self.volume_mode == kind.volume_mode
            and self.attributes_class == kind.attributes_class
            and set(self.access_modes) <= set(kind.access_modes)
            and (self.selector is None or self.selector.matches(dict(kind.labels)))
        )


class VolumeKind(NamedTuple):
    """The fields of a volume that demands are compared with, without its size."""

    volume_mode: str
    access_modes: tuple[str, ...]
    attributes_class: str
    labels: tuple[tuple[str, str], ...]


def exact_size(amounts: ResourceList) -> Size:
    """Return the amount of storage as an exact number; 0 if there is none."""
    quantity = quantity_of(amounts.get(STORAGE, 0))
    if quantity.exponent >= 0:
        return quantity.unscaled * int(10**quantity.exponent)
    return Fraction(quantity.unscaled, int(10**-quantity.exponent))


def storage_bytes(amounts: ResourceList) -> int:
    """Return the amount of storage in bytes, rounded up."""
    return value_of(amounts.get(STORAGE, 0))


def kind_of(volume: PersistentVolume) -> VolumeKind:
    """Return the kind of a volume."""
    spec = volume.spec
    return VolumeKind(
        FILESYSTEM if spec.volume_mode is None else spec.volume_mode,
        spec.access_modes,
        spec.volume_attributes_class_name or "",
        tuple(sorted(volume.metadata.labels.items())),
    )


def affinity_selector(volume: PersistentVolume) -> CompiledNodeSelector | None:
    """Return the selector of the nodes that can access a volume; None for all."""
    affinity = volume.spec.node_affinity
    return None if affinity is None or affinity.required is None else reaching_nodes(affinity.required)


def is_free(volume: PersistentVolume) -> bool:
    """Return whether claims can be bound to a volume."""
    return (
        volume.spec.claim_ref is None
        and volume.status.phase == "Available"
        and volume.metadata.deletion_timestamp is None
    )


class FreeVolumes(Offers[PersistentVolume]):
    """The free volumes of one class, smallest first, among equals by name."""

    def __init__(self, table: NodeTable) -> None:
        super().__init__(table)
        self._sizes: list[Size] = []
        self._kinds: Interner[VolumeKind] = Interner()
        self._kind_codes: NDArray[np.int32] = np.zeros(0, np.int32)
        self._accepted: dict[Demand, NDArray[np.bool_]] = {}
        self.capacity_bytes: NDArray[np.int64] = np.zeros(0, np.int64)
        # the storage class names in the volumes' specs
        self.class_names: Interner[str] = Interner()
        self.class_codes: NDArray[np.int32] = np.zeros(0, np.int32)

    def smallest(self, rows: Rows, demand: Demand, size: Size, taken: Sequence[Positions]) -> Positions:
        """Return for each row the smallest accessible volume that satisfies a demand and is not taken."""
        self.settle()
        eligible = self.present & self._accepted_kinds(demand)[self._kind_codes]
        eligible[: bisect_left(self._sizes, size)] = False
        return self.reach.first(rows, eligible, taken)

    def _accepted_kinds(self, demand: Demand) -> NDArray[np.bool_]:
        accepted = self._accepted.get(demand)
        if accepted is None:
            if len(self._accepted) >= DEMANDS:
                self._accepted.clear()
            accepted = np.array([demand.accepts(kind) for kind in self._kinds.values], np.bool_)
            self._accepted[demand] = accepted
        return accepted

    def selector(self, thing: PersistentVolume) -> CompiledNodeSelector | None:
        """Return the selector of the nodes that can access a volume."""
        return affinity_selector(thing)

    def same_place(self, old: PersistentVolume, new: PersistentVolume) -> bool:
        """Return whether a volume that is free again is unchanged in size, class, kind and node affinity."""
        return old is new or (
            old.spec.capacity == new.spec.capacity
            and old.spec.node_affinity == new.spec.node_affinity
            and old.spec.storage_class_name == new.spec.storage_class_name
            and kind_of(old) == kind_of(new)
        )

    def in_order(self, things: list[PersistentVolume]) -> list[PersistentVolume]:
        """Return volumes smallest first, among equals by name; the reference's order is random there."""
        return sorted(things, key=lambda volume: (exact_size(volume.spec.capacity), volume.name))

    def laid_out(self) -> None:
        """Compute the columns of the volumes: sizes, kinds and classes."""
        self._sizes = [exact_size(volume.spec.capacity) for volume in self.things]
        self._kinds = Interner()
        self._kind_codes = np.array([self._kinds.code(kind_of(volume)) for volume in self.things], np.int32)
        self._accepted = {}
        self.capacity_bytes = np.array([storage_bytes(volume.spec.capacity) for volume in self.things], np.int64)
        self.class_names = Interner()
        codes = [self.class_names.code(volume.spec.storage_class_name) for volume in self.things]
        self.class_codes = np.array(codes, np.int32)
