"""In-tree volumes as volumes of the CSI drivers that they migrate to.

From volume sources of pods and persistent volumes to drivers, volume handles and translated persistent volumes. Pure
functions over API structs. Migration is complete for most in-tree plugins (`migrated`); callers decide whether it
applies on a node: limits apply if there is a CSINode, binding checks the CSINode's annotation (`is_migrated_on`).
"""

# upstream: csi-translation-lib, nodevolumelimits/utils.go, volumebinding/binder.go (v1.36)

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from kubesched.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.storage import (
    CSINode,
    CSIPersistentVolumeSource,
    PersistentVolume,
    VolumeNodeAffinity,
)
from kubesched.api.volumes import AzureDiskVolumeSource, Volume

MIGRATED_PLUGINS_ANNOTATION: Final = "storage.alpha.kubernetes.io/migrated-plugins"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
# separates the zones in a volume's zone label
ZONE_DELIMITER: Final = "__"
UNSPECIFIED: Final = "UNSPECIFIED"


class TranslationError(ValueError):
    """A volume source that cannot be translated to CSI; the text is the reference's."""


class InTreePlugin(NamedTuple):
    """An in-tree volume plugin and its CSI driver."""

    name: str
    driver: str
    # the field of a volume (or of a persistent volume's spec) that holds its source
    field: str
    # the driver's topology key for zones; empty if its topology is not translated
    topology_key: str
    # whether the scheduler treats its volumes as CSI volumes
    migrated: bool


IN_TREE_PLUGINS: Final = (
    InTreePlugin(
        "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gce_persistent_disk", "topology.gke.io/zone", migrated=True
    ),
    InTreePlugin(
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
        "aws_elastic_block_store",
        "topology.ebs.csi.aws.com/zone",
        migrated=True,
    ),
    InTreePlugin(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "cinder",
        "topology.cinder.csi.openstack.org/zone",
        migrated=True,
    ),
    InTreePlugin("kubernetes.io/azure-disk", "disk.csi.azure.com", "azure_disk", "", migrated=True),
    InTreePlugin("kubernetes.io/portworx-volume", "pxd.portworx.com", "portworx_volume", "", migrated=True),
    InTreePlugin("kubernetes.io/azure-file", "file.csi.azure.com", "azure_file", "", migrated=False),
    InTreePlugin("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "vsphere_volume", "", migrated=False),
)
_BY_NAME = {plugin.name: plugin for plugin in IN_TREE_PLUGINS}


class CSIVolume(NamedTuple):
    """The identity of a CSI volume: driver and handle."""

    driver: str
    handle: str


# -- which plugin, which driver


def in_tree_plugin_named(name: str) -> InTreePlugin | None:
    """Return the in-tree plugin of a name, such as a storage class's provisioner; None if it has no CSI driver."""
    return _BY_NAME.get(name)


def in_tree_plugin_of_volume(volume: Volume) -> InTreePlugin | None:
    """Return the in-tree plugin of a pod's inline volume, or None if it has no CSI driver."""
    return _plugin_of(volume)


def in_tree_plugin_of_pv(pv: PersistentVolume) -> InTreePlugin | None:
    """Return the in-tree plugin of a persistent volume, or None if it has no CSI driver."""
    return _plugin_of(pv.spec)


def _plugin_of(sources: Any) -> InTreePlugin | None:
    for plugin in IN_TREE_PLUGINS:
        if getattr(sources, plugin.field) is not None:
            return plugin
    return None


def migrated_plugins(csi_node: CSINode | None) -> frozenset[str]:
    """Return the names of the in-tree plugins that are migrated on a node, by its CSINode's annotation."""
    names = csi_node.metadata.annotations.get(MIGRATED_PLUGINS_ANNOTATION, "") if csi_node is not None else ""
    return frozenset(names.split(",")) if names else frozenset()


def is_migrated_on(plugin: InTreePlugin, csi_node: CSINode | None) -> bool:
    """Return whether a node attaches volumes of an in-tree plugin through its CSI driver."""
    return plugin.migrated and plugin.name in migrated_plugins(csi_node)


# -- volume handles


def csi_volume_of_inline(volume: Volume) -> CSIVolume | None:
    """Return the CSI volume of an inline volume of a migrated plugin; None for volumes of other plugins."""
    plugin = _plugin_of(volume)
    if plugin is None or not plugin.migrated:
        return None
    if volume.gce_persistent_disk is not None:
        return CSIVolume(plugin.driver, _gce_handle(volume.gce_persistent_disk.pd_name, ""))
    return CSIVolume(plugin.driver, _handle(plugin, getattr(volume, plugin.field)))


def csi_volume_of_pv(pv: PersistentVolume) -> CSIVolume | None:
    """Return the CSI volume of a persistent volume of a migrated plugin; None for volumes of other plugins."""
    plugin = _plugin_of(pv.spec)
    if plugin is None or not plugin.migrated:
        return None
    if pv.spec.gce_persistent_disk is not None:
        labels = pv.metadata.labels
        zones = labels.get(BETA_ZONE, "") or labels.get(ZONE, "")
        return CSIVolume(plugin.driver, _gce_handle(pv.spec.gce_persistent_disk.pd_name, zones))
    return CSIVolume(plugin.driver, _handle(plugin, getattr(pv.spec, plugin.field)))


def _handle(plugin: InTreePlugin, source: Any) -> str:
    return _HANDLES[plugin.field](source)


def _gce_handle(disk: str, zones_label: str) -> str:
    zones = zones_label.split(ZONE_DELIMITER)
    if len(zones) > 1:
        try:
            region = _gce_region(zones)
        except TranslationError as error:
            raise TranslationError(f"failed to get region from zones: {error}") from None
        return f"projects/{UNSPECIFIED}/regions/{region}/disks/{disk}"
    return f"projects/{UNSPECIFIED}/zones/{zones[0] or UNSPECIFIED}/disks/{disk}"


def _gce_region(zones: Iterable[str]) -> str:
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            raise TranslationError(f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}")
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        found = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(f"multiple or no regions gotten from zones, got: map[{found}]")
    return regions.pop()


_AWS_VOLUME = re.compile(r"vol-[^/]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")


def _aws_handle(volume_id: str) -> str:
    """Return the bare ID behind `aws://<zone>/<ID>`."""
    if not volume_id.startswith("aws://"):
        return volume_id
    what = "failed to translate Kubernetes ID to EBS Volume ID"
    try:
        path = urlsplit(volume_id).path
    except ValueError as error:
        raise TranslationError(f"{what} Invalid disk name ({volume_id}): {error}") from None
    bad = _BAD_ESCAPE.search(path)
    if bad is not None:
        problem = f'parse "{volume_id}": invalid URL escape "{bad.group()}"'
        raise TranslationError(f"{what} Invalid disk name ({volume_id}): {problem}")
    bare = unquote(path).strip("/")
    if not _AWS_VOLUME.fullmatch(bare):
        raise TranslationError(f"{what} Invalid format for AWS volume ({volume_id})")
    return bare


def _azure_handle(source: AzureDiskVolumeSource) -> str:
    kind = source.kind
    if kind is not None and kind.lower() != "managed":
        raise TranslationError(f"kind({kind}) is not supported in csi migration")
    return source.disk_uri


_HANDLES: dict[str, Callable[[Any], str]] = {
    "aws_elastic_block_store": lambda source: _aws_handle(source.volume_id),
    "azure_disk": _azure_handle,
    "cinder": lambda source: source.volume_id,
    "portworx_volume": lambda source: source.volume_id,
}


# -- whole persistent volumes


def translated_on(pv: PersistentVolume, csi_node: CSINode | None) -> PersistentVolume:
    """Return a persistent volume translated to CSI, or unchanged if its plugin is not migrated on the node.

    Raises TranslationError for a volume that cannot be translated.
    """
    plugin = in_tree_plugin_of_pv(pv)
    if plugin is None or not is_migrated_on(plugin, csi_node):
        return pv
    return translate_pv(pv)


def translate_pv(pv: PersistentVolume) -> PersistentVolume:
    """Return a persistent volume of a migrated plugin translated to CSI; any other unchanged."""
    volume, plugin = csi_volume_of_pv(pv), in_tree_plugin_of_pv(pv)
    if volume is None or plugin is None:
        return pv
    source = getattr(pv.spec, plugin.field)
    changes: dict[str, Any] = {
        plugin.field: None,
        "csi": CSIPersistentVolumeSource(
            driver=volume.driver,
            volume_handle=volume.handle,
            read_only=getattr(source, "read_only", False),
        ),
    }
    if plugin.topology_key:
        changes["node_affinity"] = _translated_affinity(pv, plugin.topology_key)
    if plugin.field == "gce_persistent_disk":
        changes["access_modes"] = _gce_access_modes(pv.spec.access_modes)
    return msgspec.structs.replace(pv, spec=msgspec.structs.replace(pv.spec, **changes))


def _gce_access_modes(modes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the one mode a disk is attached in; the in-tree plugin ignores access modes."""
    if not modes:
        return ()
    writable = "ReadWriteOnce" in modes or "ReadWriteMany" in modes or "ReadOnlyMany" not in modes
    return ("ReadWriteOnce",) if writable else ("ReadOnlyMany",)


def _translated_affinity(pv: PersistentVolume, topology_key: str) -> VolumeNodeAffinity | None:
    """Return a volume's node affinity with its zones, or the zones in its labels, under the driver's topology key."""
    affinity, labels = pv.spec.node_affinity, pv.metadata.labels
    zone, region = _topology_labels(affinity, labels)
    if _values(affinity, zone):
        affinity = _renamed(affinity, zone, topology_key)
    elif zone in labels:
        affinity = _restricted(affinity, topology_key, labels[zone].split(ZONE_DELIMITER))
    if region == BETA_REGION and _values(affinity, region):
        affinity = _renamed(affinity, region, REGION)
    return affinity


def _topology_labels(affinity: VolumeNodeAffinity | None, labels: dict[str, str]) -> tuple[str, str]:
    """Return the zone and region labels that a volume uses: the current ones, or the beta ones."""
    keys = {requirement.key for term in _terms(affinity) for requirement in term.match_expressions}
    for mentioned in (keys, labels):
        if ZONE in mentioned:
            return ZONE, REGION
        if BETA_ZONE in mentioned:
            return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _terms(affinity: VolumeNodeAffinity | None) -> tuple[NodeSelectorTerm, ...]:
    if affinity is None or affinity.required is None:
        return ()
    return affinity.required.node_selector_terms


def _values(affinity: VolumeNodeAffinity | None, key: str) -> set[str]:
    return {
        value
        for term in _terms(affinity)
        for requirement in term.match_expressions
        if requirement.key == key
        for value in requirement.values or ()
    }


def _renamed(affinity: VolumeNodeAffinity | None, old: str, new: str) -> VolumeNodeAffinity:
    def rename(requirement: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return msgspec.structs.replace(requirement, key=new) if requirement.key == old else requirement

    return _affinity_of(
        msgspec.structs.replace(term, match_expressions=tuple(map(rename, term.match_expressions)))
        for term in _terms(affinity)
    )


def _restricted(affinity: VolumeNodeAffinity | None, key: str, zones: Iterable[str]) -> VolumeNodeAffinity | None:
    """Return the affinity with a requirement added to each of its terms."""
    values = tuple(sorted({zone.strip() for zone in zones} - {""}))
    if not values:
        return affinity
    requirement = NodeSelectorRequirement(key=key, operator="In", values=values)
    return _affinity_of(
        msgspec.structs.replace(term, match_expressions=(*term.match_expressions, requirement))
        for term in _terms(affinity) or (NodeSelectorTerm(),)
    )


def _affinity_of(terms: Iterable[NodeSelectorTerm]) -> VolumeNodeAffinity:
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=tuple(terms)))
