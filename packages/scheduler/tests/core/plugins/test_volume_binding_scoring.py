"""VolumeBinding's scores: how full a node's storage would be, by the shape that is configured."""

from collections.abc import Sequence

import pytest

from kubesched.api.meta import ApiObject
from kubesched.config.args import UtilizationShapePoint, VolumeBindingArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.testing import (
    a_claim,
    a_cluster,
    a_csi_driver,
    a_node,
    a_pod,
    a_storage_class,
    a_storage_pool,
    a_volume,
)
from kubesched.testing.shorthand import HOSTNAME

DRIVER = "csi.example.com"
N1, N2 = a_node("n1"), a_node("n2")
LOCAL = a_storage_class("local")
CSI = a_storage_class("csi", provisioner=DRIVER)
ON_N1, ON_N2 = f"{HOSTNAME}=n1", f"{HOSTNAME}=n2"


def scores(
    *objects: ApiObject, shape: Sequence[tuple[int, int]] = ((0, 0), (100, 10)), volumes: Sequence[str] = ("c",)
) -> dict[str, int]:
    cluster = a_cluster(N1, N2, *objects)
    args = VolumeBindingArgs(shape=tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in shape))
    plugin = VolumeBinding(cluster, args=args, gates=FeatureGates({"StorageCapacityScoring": True}))
    pod, cycle = cluster.reader.read(a_pod("p", volumes=volumes)), CycleState()
    cycle.write(PRE_FILTERED, ("VolumeBinding",))
    plugin.pre_filter(cycle, pod)
    plugin.filter_nodes(cycle, pod, Nodes(cluster.table))
    assert plugin.pre_score(cycle, pod, Nodes(cluster.table)) is None
    column = plugin.score_nodes(cycle, pod, Nodes(cluster.table))
    assert not isinstance(column, Status)
    assert [plugin.score(cycle, pod, NodeRow(cluster.table, row)) for row in (0, 1)] == column.tolist()
    return dict(zip(("n1", "n2"), column.tolist(), strict=True))


@pytest.mark.parametrize(
    ("what", "objects", "volumes", "expected"),
    [
        (
            "how full a volume gets",
            [
                LOCAL,
                a_claim("c", size="3Gi"),
                a_volume("v", size="10Gi", nodes=ON_N1),
                a_volume("w", size="4Gi", nodes=ON_N2),
            ],
            ["c"],
            {"n1": 30, "n2": 75},
        ),
        (
            "a volume that is meant for it",
            [LOCAL, a_claim("c", size="3Gi"), a_volume("v", size="4Gi", claimed_by="default/c")],
            ["c"],
            {"n1": 75, "n2": 75},
        ),
        (
            "claims of one class add up",
            [LOCAL, a_claim("c", size=3), a_claim("d", size=6), a_volume("v", size=4), a_volume("w", size=8)],
            ["c", "d"],
            {"n1": 75, "n2": 75},
        ),
        (
            "the mean over classes, rounded",
            [
                LOCAL,
                a_storage_class("two"),
                a_claim("c", size=1),
                a_claim("d", size=6, storage_class="two"),
                a_volume("v", size=4),
                a_volume("w", size=8, storage_class="two"),
            ],
            ["c", "d"],
            {"n1": 50, "n2": 50},
        ),
        (
            "halves are rounded up",
            [
                LOCAL,
                a_storage_class("two"),
                a_claim("c", size=1),
                a_claim("d", size=2, storage_class="two"),
                a_volume("v", size=4),
                a_volume("w", size=2, storage_class="two"),
            ],
            ["c", "d"],
            {"n1": 63, "n2": 63},
        ),
        (
            "the room of pools",
            [
                CSI,
                a_csi_driver(),
                a_claim("c", storage_class="csi", size=20),
                a_storage_pool("a", capacity=100, nodes={HOSTNAME: "n1"}),
                a_storage_pool("b", capacity=50, nodes={HOSTNAME: "n2"}),
            ],
            ["c"],
            {"n1": 20, "n2": 40},
        ),
        (
            "claims of one class share a pool",
            [
                CSI,
                a_csi_driver(),
                a_claim("c", storage_class="csi", size=20),
                a_claim("d", storage_class="csi", size=30),
                a_storage_pool(capacity=100),
            ],
            ["c", "d"],
            {"n1": 50, "n2": 50},
        ),
        (
            "where something is bound, pools do not count",
            [
                CSI,
                a_csi_driver(),
                a_claim("c", storage_class="csi", size=20),
                a_claim("d", storage_class="csi", size=30),
                a_storage_pool(capacity=100),
                a_volume("v", storage_class="csi", size=20, nodes=ON_N1),
            ],
            ["c", "d"],
            {"n1": 100, "n2": 50},
        ),
        (
            "a pool of which only the largest volume is known",
            [
                CSI,
                a_csi_driver(),
                a_claim("c", storage_class="csi", size=20),
                a_storage_pool(capacity=None, largest=40),
            ],
            ["c"],
            {"n1": 50, "n2": 50},
        ),
        (
            "a pool that is smaller than its largest volume",
            [CSI, a_csi_driver(), a_claim("c", storage_class="csi", size=20), a_storage_pool(capacity=10, largest=40)],
            ["c"],
            {"n1": 100, "n2": 100},
        ),
        ("capacity unknown", [CSI, a_claim("c", storage_class="csi")], ["c"], {"n1": 0, "n2": 0}),
        ("all bound", [a_claim("c", bound_to="v"), a_volume("v")], ["c"], {"n1": 0, "n2": 0}),
        ("no claims", [], [], {"n1": 0, "n2": 0}),
        ("an empty volume", [LOCAL, a_claim("c", size=0), a_volume("v", size=0)], ["c"], {"n1": 100, "n2": 100}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_scores(what: str, objects: list[ApiObject], volumes: list[str], expected: dict[str, int]) -> None:
    assert scores(*objects, volumes=volumes) == expected, what
