"""Whatever happens to storage, nodes and pods: both forms of a plugin agree, and what caught up equals a fresh one.

For VolumeZone, VolumeRestrictions and NodeVolumeLimits, and for the columns of volumes in use behind them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.volumes import AWSElasticBlockStoreVolumeSource, GCEPersistentDiskVolumeSource, Volume
from kubesched.core.cluster.changes import CAPACITY, Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences, rebuilt
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.columns.questions import FilterQuestion
from kubesched.core.framework.columns.row_questions import RowFilterQuestion
from kubesched.core.framework.plugin import UNCACHED, FilterPlugin, QuestionFilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Code, Status, StatusTable
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.node_volume_limits import NodeVolumeLimits
from kubesched.core.plugins.volume_restrictions import VolumeRestrictions
from kubesched.core.plugins.volume_zone import VolumeZone
from kubesched.testing import (
    a_claim,
    a_cluster,
    a_csi_node,
    a_node,
    a_pod,
    a_storage_class,
    a_volume,
    an_attachment,
    an_ephemeral_volume,
)

SETTINGS = settings(max_examples=60, deadline=None)
NODES, CLAIMS, VOLUMES = ["n0", "n1", "n2"], ["c0", "c1", "c2", "p0-scratch"], ["v0", "v1", "v2"]
DRIVERS = ["x.example.com", "ebs.csi.aws.com"]
MODES = [("ReadWriteOncePod",), ("ReadWriteOnce",)]
ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


sample = st.sampled_from


def ebs(volume_id: str) -> Volume:
    return Volume(name=volume_id, aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id=volume_id))


def gce(name: str, read_only: bool) -> Volume:
    return Volume(name=name, gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name=name, read_only=read_only))


zone_labels = st.dictionaries(sample([ZONE, OLD_ZONE]), sample(["a", "b", "a__b", ""]), max_size=2)


nodes = st.builds(a_node, sample(NODES), labels=zone_labels)
csi_nodes = st.builds(
    a_csi_node, sample(NODES), st.dictionaries(sample(DRIVERS), st.none() | st.integers(0, 3), max_size=2)
)
claims = st.builds(
    a_claim,
    sample(CLAIMS),
    storage_class=sample(["wait", "aws", None]),
    bound_to=sample(["", *VOLUMES]),
    modes=sample(MODES),
    owner=sample([None, a_pod("p0")]),
)
volumes = st.builds(
    a_volume,
    sample(VOLUMES),
    csi=sample(["", *(f"{driver}/{handle}" for driver in DRIVERS for handle in ("h0", "h1"))]),
    labels=zone_labels,
)
classes = sample(
    [a_storage_class("wait", provisioner=DRIVERS[0]), a_storage_class("aws", provisioner="kubernetes.io/aws-ebs")]
)
attachments = st.builds(
    an_attachment, sample(["t0", "t1"]), node=sample(NODES), volume=sample(VOLUMES), attacher=sample(DRIVERS)
)
mounted = st.lists(
    sample(
        [*CLAIMS[:3], ebs("h0"), ebs("h1"), ebs("aws:///bad"), gce("g", False), gce("g", True), an_ephemeral_volume()]
    ),
    min_size=1,
    max_size=3,
    unique_by=str,
)
pods = st.builds(a_pod, sample([f"p{i}" for i in range(4)]), node=sample([*NODES, *NODES, "gone", ""]), volumes=mounted)
objects: st.SearchStrategy[ApiObject] = st.one_of(nodes, csi_nodes, claims, volumes, classes, attachments, pods, pods)
# An event is an object that appears or changes, or with False one that goes.
events = st.lists(st.tuples(objects, sample([True, True, False])), min_size=5, max_size=30)
asking = st.builds(lambda volumes: a_pod("asking", volumes=volumes), mounted)

Make = Callable[[ClusterState], VolumeZone | VolumeRestrictions | NodeVolumeLimits]
# Where scripts begin: three nodes with room for little.
BEGINNING: list[ApiObject] = [
    *(a_node(name, zone=zone) for name, zone in zip(NODES, "aab", strict=True)),
    *(a_csi_node(name, {DRIVERS[0]: 1, DRIVERS[1]: 2}) for name in NODES),
    a_storage_class("wait", provisioner=DRIVERS[0]),
    a_storage_class("aws", provisioner="kubernetes.io/aws-ebs"),
    *(a_claim(claim, bound_to=volume) for claim, volume in zip(CLAIMS[:2], VOLUMES, strict=False)),
    a_claim("c2", storage_class="wait"),
    *(a_volume(name, csi=f"{DRIVERS[0]}/{name}", labels={ZONE: "a"}) for name in VOLUMES),
]
PLUGINS: list[Make] = [VolumeZone, VolumeRestrictions, NodeVolumeLimits]


def happen(cluster: ClusterState, obj: ApiObject, comes: bool) -> None:
    if comes:
        cluster.add(obj)
    else:
        cluster.remove(obj)


def question(plugin: FilterPlugin, cluster: ClusterState, pod: PodInfo, statuses: StatusTable) -> FilterQuestion:
    if isinstance(plugin, QuestionFilterPlugin):
        return plugin.filter_question(pod, statuses)
    return RowFilterQuestion(plugin, pod, cluster.table, statuses, CycleState(), pre_filter=True)


def column(asked: FilterQuestion) -> dict[str, Status]:
    asked.refresh()
    table = asked.table
    return {table.names[row]: asked.statuses[int(asked.ids[row])] for row in table.present_rows()}


@pytest.mark.parametrize("make", PLUGINS, ids=lambda make: make.__name__)
@SETTINGS
@given(pod=asking, script=events)
def test_forms_agree_and_kept_questions_keep_up(make: Make, pod: Pod, script: list[tuple[ApiObject, bool]]) -> None:
    cluster, statuses = a_cluster(*BEGINNING), StatusTable()
    plugin, info = make(cluster), cluster.reader.read(pod)
    kept: dict[Any, FilterQuestion] = {}
    for obj, comes in script:
        happen(cluster, obj, comes)
        fresh = question(plugin, cluster, info, statuses)
        if fresh.rejection is not None or fresh.skip:
            continue
        found = column(fresh)
        cycle = CycleState()
        assert plugin.pre_filter(cycle, info) is None
        for name, status in found.items():
            one = plugin.filter(cycle, info, NodeRow(cluster.table, cluster.table.row_of[name]))
            assert (one.reasons if one else ()) == status.reasons
        gathered = plugin.filter_nodes(cycle, info, Nodes(cluster.table, cluster.table.present_rows()))
        assert [gathered.which[i] != 0 for i in range(len(found))] == [not status.ok for status in found.values()]
        key = plugin.key(info)
        if key is not UNCACHED:
            assert column(kept.setdefault(key, fresh)) == found


@SETTINGS
@given(script=events, forgetful=st.booleans())
def test_volumes_in_use_are_as_if_counted_anew(script: list[tuple[ApiObject, bool]], forgetful: bool) -> None:
    cluster = a_cluster(*BEGINNING)
    for index, (obj, comes) in enumerate(script):
        happen(cluster, obj, comes)
        if index % 3 == 0:
            cluster.attached_volumes.refresh()
    if forgetful:
        for _ in range(2 * CAPACITY + 1):
            cluster.log.record(-1, Reads.OWNERS)
    assert list(differences(content(cluster), content(rebuilt(cluster)))) == []


@SETTINGS
@given(
    pod=asking,
    placed=st.lists(st.tuples(sample(NODES[:2]), mounted), min_size=2, max_size=5),
    script=st.lists(st.one_of(csi_nodes, claims, volumes, attachments), max_size=6),
    changes=st.lists(st.integers(0, 4), min_size=1, max_size=8),
)
def test_worlds_are_the_table_with_other_pods(
    pod: Pod, placed: list[tuple[str, list[Any]]], script: list[ApiObject], changes: list[int]
) -> None:
    users = [a_pod(f"p{i}", node=node, volumes=volumes) for i, (node, volumes) in enumerate(placed)]
    cluster = a_cluster(*BEGINNING, *users, *script)
    rows = np.array([cluster.table.row_of[name] for name in NODES])
    worlds = NodeVolumeLimits(cluster).filter_question(cluster.reader.read(pod), StatusTable()).worlds(rows)
    others = [rebuilt(cluster) for _ in NODES]
    for which in changes:
        if which >= len(users):
            continue
        user = users[which]
        world = NODES.index(user.spec.node_name)
        there = user.uid in others[world].table.pods
        worlds.change(np.array([world]), np.array([cluster.table.pods[user.uid].slot]), -1 if there else 1)
        happen(others[world], user, not there)
    verdict = worlds.verdict()
    for world, (name, other) in enumerate(zip(NODES, others, strict=True)):
        node = NodeRow(other.table, other.table.row_of[name])
        expected = NodeVolumeLimits(other).filter(CycleState(), other.reader.read(pod), node)
        found = verdict.statuses[int(verdict.which[world])]
        if found is not None and found.code is Code.ERROR:
            # of several pods that fail, any may be named
            assert expected is not None
            assert expected.code is Code.ERROR
        else:
            assert found == expected
