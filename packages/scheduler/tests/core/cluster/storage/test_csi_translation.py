"""In-tree volumes as volumes of the CSI drivers that took them over."""

from typing import Any

import msgspec
import pytest

from kubesched.api.pods import NodeSelectorTerm
from kubesched.api.storage import CinderPersistentVolumeSource, PersistentVolume
from kubesched.api.volumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    GCEPersistentDiskVolumeSource,
    PortworxVolumeSource,
    Volume,
)
from kubesched.core.cluster.storage.csi_translation import (
    CSIVolume,
    TranslationError,
    csi_volume_of_inline,
    csi_volume_of_pv,
    in_tree_plugin_named,
    in_tree_plugin_of_pv,
    translate_pv,
    translated_on,
)
from kubesched.testing import a_csi_node, a_volume

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, OLD_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
GCE_ZONE = "topology.gke.io/zone"
GCE = GCEPersistentDiskVolumeSource(pd_name="d")


def in_tree(pv: PersistentVolume | None = None, **source: Any) -> PersistentVolume:
    pv = pv or a_volume("v")
    return msgspec.structs.replace(pv, spec=msgspec.structs.replace(pv.spec, **source))


def aws(volume_id: str) -> AWSElasticBlockStoreVolumeSource:
    return AWSElasticBlockStoreVolumeSource(volume_id=volume_id)


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        pytest.param(
            Volume(gce_persistent_disk=GCE),
            CSIVolume("pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
            id="GCE",
        ),
        pytest.param(Volume(aws_elastic_block_store=aws("x")), CSIVolume("ebs.csi.aws.com", "x"), id="AWS, bare"),
        pytest.param(
            Volume(aws_elastic_block_store=aws("aws://zone/vol-1/")),
            CSIVolume("ebs.csi.aws.com", "vol-1"),
            id="AWS, with its zone",
        ),
        pytest.param(
            Volume(azure_disk=AzureDiskVolumeSource(disk_uri="/d", kind="managed")),
            CSIVolume("disk.csi.azure.com", "/d"),
            id="Azure, managed",
        ),
        pytest.param(
            Volume(portworx_volume=PortworxVolumeSource(volume_id="p")),
            CSIVolume("pxd.portworx.com", "p"),
            id="Portworx",
        ),
        pytest.param(Volume(azure_file=AzureFileVolumeSource()), None, id="one that stays in-tree"),
        pytest.param(Volume(name="empty"), None, id="no disk at all"),
    ],
)
def test_inline_volumes(volume: Volume, expected: CSIVolume | None) -> None:
    assert csi_volume_of_inline(volume) == expected


@pytest.mark.parametrize(
    ("labels", "handle"),
    [
        pytest.param({}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", id="nobody knows where"),
        pytest.param({ZONE: "us-east1-a"}, "projects/UNSPECIFIED/zones/us-east1-a/disks/d", id="in a zone"),
        pytest.param(
            {ZONE: "us-east1-a", OLD_ZONE: "us-east1-b"},
            "projects/UNSPECIFIED/zones/us-east1-b/disks/d",
            id="the old label counts first",
        ),
        pytest.param(
            {ZONE: "us-east1-a__us-east1-b"}, "projects/UNSPECIFIED/regions/us-east1/disks/d", id="in a region"
        ),
    ],
)
def test_gce_disks_are_named_by_where_they_are(labels: dict[str, str], handle: str) -> None:
    pv = in_tree(a_volume("v", labels=labels), gce_persistent_disk=GCE)
    assert csi_volume_of_pv(pv) == CSIVolume("pd.csi.storage.gke.io", handle)


@pytest.mark.parametrize(
    ("pv", "text"),
    [
        pytest.param(
            in_tree(a_volume(labels={ZONE: "a__b"}), gce_persistent_disk=GCE),
            "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a",
            id="zones of no region",
        ),
        pytest.param(
            in_tree(a_volume(labels={ZONE: "b-c-d__a-b-c"}), gce_persistent_disk=GCE),
            "failed to get region from zones: multiple or no regions gotten from zones, got: map[a-b:{} b-c:{}]",
            id="zones of two regions",
        ),
        pytest.param(
            in_tree(aws_elastic_block_store=aws("aws:///disk")),
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws:///disk)",
            id="an ID that AWS would not give",
        ),
        pytest.param(
            in_tree(aws_elastic_block_store=aws("aws:///vol-%zz")),
            "failed to translate Kubernetes ID to EBS Volume ID Invalid disk name (aws:///vol-%zz): "
            'parse "aws:///vol-%zz": invalid URL escape "%zz"',
            id="an ID that cannot be read",
        ),
        pytest.param(
            in_tree(azure_disk=AzureDiskVolumeSource(kind="Dedicated")),
            "kind(Dedicated) is not supported in csi migration",
            id="an Azure disk that is not managed",
        ),
    ],
)
def test_what_drivers_have_no_name_for(pv: PersistentVolume, text: str) -> None:
    with pytest.raises(TranslationError) as raised:
        csi_volume_of_pv(pv)
    assert str(raised.value) == text


def terms_of(pv: PersistentVolume) -> list[dict[str, tuple[str, ...] | None]]:
    affinity = pv.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    return [{requirement.key: requirement.values for requirement in term.match_expressions} for term in terms]


@pytest.mark.parametrize(
    ("labels", "nodes", "expected"),
    [
        pytest.param({}, None, [], id="no topology"),
        pytest.param({ZONE: "a"}, None, [{GCE_ZONE: ("a",)}], id="the zone of its label"),
        pytest.param({OLD_ZONE: "b-b-b__b-b-a"}, None, [{GCE_ZONE: ("b-b-a", "b-b-b")}], id="zones, sorted"),
        pytest.param({ZONE: " "}, None, [], id="a label without a zone"),
        pytest.param({ZONE: "a"}, f"{ZONE}=b", [{GCE_ZONE: ("b",)}], id="its own affinity comes first"),
        pytest.param(
            {ZONE: "a"},
            ["disk=ssd", "disk=hdd"],
            [{"disk": ("ssd",), GCE_ZONE: ("a",)}, {"disk": ("hdd",), GCE_ZONE: ("a",)}],
            id="a label counts in every term",
        ),
        pytest.param(
            {},
            f"{OLD_ZONE}=a,{OLD_REGION}=r",
            [{GCE_ZONE: ("a",), REGION: ("r",)}],
            id="the old region gets its new name",
        ),
        pytest.param(
            {}, f"{ZONE}=a,{OLD_REGION}=r", [{GCE_ZONE: ("a",), OLD_REGION: ("r",)}], id="unless the zone is new"
        ),
    ],
)
def test_topology(
    labels: dict[str, str], nodes: str | list[str | NodeSelectorTerm] | None, expected: list[dict[str, Any]]
) -> None:
    pv = in_tree(a_volume("v", labels=labels, nodes=nodes), gce_persistent_disk=GCE)
    translated = translate_pv(pv)
    assert terms_of(translated) == expected
    assert translated.spec.gce_persistent_disk is None
    assert translated.spec.csi is not None
    assert translated.spec.csi.driver == "pd.csi.storage.gke.io"


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ((), ()),
        (("ReadWriteMany",), ("ReadWriteOnce",)),
        (("ReadWriteOnce", "ReadOnlyMany"), ("ReadWriteOnce",)),
        (("ReadOnlyMany",), ("ReadOnlyMany",)),
        (("ReadWriteOncePod",), ("ReadWriteOnce",)),
    ],
)
def test_gce_disks_have_one_mode(modes: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert translate_pv(in_tree(a_volume(modes=modes), gce_persistent_disk=GCE)).spec.access_modes == expected


@pytest.mark.parametrize(
    ("source", "migrated", "translated"),
    [
        pytest.param(
            {"cinder": CinderPersistentVolumeSource(volume_id="c")}, ["kubernetes.io/cinder"], True, id="named"
        ),
        pytest.param(
            {"cinder": CinderPersistentVolumeSource(volume_id="c")},
            ["kubernetes.io/aws-ebs", "kubernetes.io/cinder"],
            True,
            id="named among others",
        ),
        pytest.param({"cinder": CinderPersistentVolumeSource()}, ["kubernetes.io/aws-ebs"], False, id="not named"),
        pytest.param({"cinder": CinderPersistentVolumeSource()}, [], False, id="nothing is migrated"),
        pytest.param({}, ["kubernetes.io/cinder"], False, id="not an in-tree volume"),
    ],
)
def test_nodes_say_what_is_migrated(source: dict[str, Any], migrated: list[str], translated: bool) -> None:
    pv = in_tree(**source)
    found = translated_on(pv, a_csi_node("n", migrated=migrated))
    assert (found is not pv) is translated
    assert translated_on(pv, None) is pv
    assert (in_tree_plugin_of_pv(pv) is None) is not bool(source)


def test_provisioners() -> None:
    plugin = in_tree_plugin_named("kubernetes.io/gce-pd")
    assert plugin is not None
    assert plugin.driver == "pd.csi.storage.gke.io"
    assert in_tree_plugin_named("kubernetes.io/no-provisioner") is None
