"""`kubesched.Cluster`: the same answers from Python, and what is wrong said in one line."""

import asyncio
import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.served_cluster import a_served_cluster

from kubesched import Cluster, KubeschedError, filter_plugin, unschedulable
from kubesched.api.codec import to_builtins
from kubesched.reports.answers import Answer
from kubesched.reports.html import as_page
from kubesched.reports.terminal import as_terminal_text
from kubesched.testing import a_node, a_pod
from kubesched_answers.capacity.capacity_answer import CapacityAnswer
from kubesched_answers.explain.node_answer import NodeAnswer
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.explain.triage_answer import Triage
from kubesched_answers.remaining.remaining_answer import RemainingAnswer
from kubesched_answers.reports.answer_reports import ANSWERS, report_of
from kubesched_answers.whatif.whatif_answer import ComparisonAnswer, ConsolidationAnswer, WhatIfAnswer
from kubesched_answers.workloads.workload_answer import WorkloadAnswer

OBJECTS = (a_node("n1", cpu="4"), a_node("n2", cpu="2"), a_pod("big", cpu="8"), a_pod("web", cpu="3"))


BIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "new", "namespace": "default"},
    "spec": {"containers": [{"name": "new", "image": "new", "resources": {"requests": {"cpu": "8"}}}]},
}
WORKLOAD: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "new"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "new"}},
        "template": {"metadata": {"labels": {"app": "new"}}, "spec": BIG["spec"]},
    },
}


@filter_plugin("OnlyEven")
def only_even(pod: Any, node: Any) -> Any:
    """Reject nodes with odd numbers."""
    return unschedulable("node(s) with an odd number") if node.name[-1] in "13579" else None


EVEN = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "OnlyEven"}]}}}],
}


def test_a_cluster_of_objects_knows_what_it_has() -> None:
    cluster = Cluster.of(OBJECTS)
    assert (cluster.nodes, cluster.pending) == (["n1", "n2"], ["default/big", "default/web"])
    assert repr(cluster) == "<Cluster of objects; nodes: 2, pods: 2, pending: 2>"


def test_objects_may_be_documents() -> None:
    assert Cluster.of(to_builtins(obj) for obj in OBJECTS).nodes == ["n1", "n2"]


def test_a_cluster_is_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(yaml.safe_dump_all([to_builtins(obj) for obj in OBJECTS[:2]]))
    (tmp_path / "pods.yaml").write_text(yaml.safe_dump_all([to_builtins(obj) for obj in OBJECTS[2:]]))
    for paths in ([tmp_path], [tmp_path / "nodes.yaml", str(tmp_path / "pods.yaml")]):
        assert Cluster.read(*paths).pending == ["default/big", "default/web"]


def test_manifests_become_the_pods_that_controllers_make_of_them() -> None:
    assert len(Cluster.of([*OBJECTS[:2], WORKLOAD]).pending) == 2


def test_a_snapshot_is_read_as_it_was(tmp_path: Path) -> None:
    cluster = Cluster.of(OBJECTS)
    cluster.snapshot(tmp_path / "a.snapshot.gz")
    again = Cluster.read(tmp_path / "a.snapshot.gz")
    assert (again.nodes, again.pending) == (cluster.nodes, cluster.pending)
    assert again.explain("big") == cluster.explain("big")


def test_an_anonymised_snapshot_has_codes_for_names_and_the_same_verdicts(tmp_path: Path) -> None:
    cluster = Cluster.of(OBJECTS)
    cluster.snapshot(tmp_path / "a.snapshot.gz", anonymise=True)
    again = Cluster.read(tmp_path / "a.snapshot.gz")
    assert not set(again.nodes) & set(cluster.nodes)
    assert not set(again.pending) & set(cluster.pending)
    verdicts = [sorted(each.explain(pod).verdict for pod in each.pending) for each in (cluster, again)]
    assert verdicts == [["schedulable", "unschedulable"]] * 2


def test_what_is_no_object_is_said() -> None:
    with pytest.raises(KubeschedError, match="object 3: expected a struct or a document, not a int"):
        Cluster.of([*OBJECTS[:2], 7])  # type: ignore[list-item]
    with pytest.raises(KubeschedError, match="read needs files or folders"):
        Cluster.read()


@pytest.mark.parametrize(
    "pod",
    ["default/big", "big", "pod/big", a_pod("other", cpu="8"), BIG, WORKLOAD],
    ids=["namespace and name", "a name", "as kubectl writes it", "a struct", "a document", "a workload"],
)
def test_a_pod_is_explained_by_name_or_as_it_is(pod: Any) -> None:
    answer = Cluster.of(OBJECTS).explain(pod)
    assert (answer.verdict, answer.message) == (
        "unschedulable",
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    )


def test_everything_pending_is_explained_by_cause() -> None:
    answer = Cluster.of(OBJECTS).explain()
    assert [(group.example, group.pods) for group in answer.groups] == [("default/big", 1)]
    assert [(group.example, group.verdict) for group in answer.others] == [("default/web", "schedulable")]


def test_a_node_is_explained() -> None:
    answer = Cluster.of(OBJECTS).explain_node("n1")
    assert (answer.node, [kind.example for kind in answer.pending]) == ("n1", ["default/web", "default/big"])


def test_capacity_is_counted_for_files_documents_and_structs(tmp_path: Path) -> None:
    cluster = Cluster.of(OBJECTS[:2])
    pod = a_pod("more", cpu="1")
    document = to_builtins(a_pod("more", cpu="1", image="web"))
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(document))
    answers = [cluster.capacity(each) for each in (pod, document, tmp_path / "pod.yaml")]
    assert len({answer.templates[0].replicas for answer in answers}) == 1
    assert answers[0].fits


QUESTIONS: dict[type[Answer], Callable[[Cluster], Answer]] = {
    Triage: lambda cluster: cluster.explain(),
    PodAnswer: lambda cluster: cluster.explain("big"),
    NodeAnswer: lambda cluster: cluster.explain_node("n1"),
    WorkloadAnswer: lambda _: Cluster.of([*OBJECTS, a_pod("w-0", cpu="8", owner="ReplicaSet/w")]).explain_workload(
        "rs/w"
    ),
    RemainingAnswer: lambda cluster: cluster.remaining(),
    CapacityAnswer: lambda cluster: cluster.capacity(WORKLOAD),
    WhatIfAnswer: lambda cluster: cluster.whatif(cordon="n1", add_nodes="1=n2"),
    ComparisonAnswer: lambda cluster: cluster.compare(config=EVEN, plugins=[only_even]),
    ConsolidationAnswer: lambda cluster: cluster.consolidate(),
}


def test_every_answer_can_be_asked_for() -> None:
    assert set(QUESTIONS) == set(ANSWERS)


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_notebooks_show_what_the_page_shows(kind: type[Answer]) -> None:
    answer = QUESTIONS[kind](Cluster.of(OBJECTS))
    assert type(answer) is kind
    shown = answer._repr_html_()
    assert shown is not None
    # a notebook has several answers, so theirs have no links
    links = re.compile(r' id="row-\d+"|<a href="#row-\d+">|</a>')
    assert shown in links.sub("", as_page(report_of(answer)))


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_answers_are_plain_json_and_have_rows(kind: type[Answer]) -> None:
    answer = QUESTIONS[kind](Cluster.of(OBJECTS))
    plain = answer.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert answer.ROWS in {field.name for field in dataclasses.fields(answer)}
    assert answer._rows(answer.ROWS)


@pytest.mark.parametrize(
    "kind", [Triage, CapacityAnswer, WhatIfAnswer, ConsolidationAnswer], ids=lambda kind: kind.__name__
)
def test_an_empty_cluster_answers(kind: type[Answer]) -> None:
    questions = {**QUESTIONS, WhatIfAnswer: lambda cluster: cluster.whatif()}
    answer = questions[kind](Cluster.of([]))
    assert as_terminal_text(report_of(answer)).strip()


def test_a_configuration_with_plugins_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "even.yaml"
    file.write_text(yaml.safe_dump(EVEN))
    for config in (EVEN, file, str(file)):
        answer = Cluster.of(OBJECTS, config=config, plugins=[only_even]).explain("web")
        assert [(reason.message, reason.nodes) for reason in answer.reasons] == [
            ("Insufficient cpu", ("n2",)),
            ("node(s) with an odd number", ("n1",)),
        ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"config": "nowhere.yaml"}, "nowhere.yaml: No such file or directory"),
        ({"config": {"kind": "Pod"}}, 'config: kind: "Pod" is not supported'),
        ({"config": EVEN}, 'Plugin "OnlyEven" does not exist'),
        ({"gates": {"NoSuchGate": True}}, "NoSuchGate"),
        ({"gates": "GangScheduling=perhaps"}, "GangScheduling"),
    ],
    ids=["a file that is missing", "another kind", "a plugin that nobody gave", "an unknown gate", "a gate's value"],
)
def test_what_is_wrong_with_the_scheduler_is_said(options: dict[str, Any], words: str) -> None:
    with pytest.raises(KubeschedError) as raised:
        Cluster.of(OBJECTS, **options)
    assert words in str(raised.value)


def test_gates_are_a_mapping_or_a_text() -> None:
    for gates in ({"AllAlpha": True}, "AllAlpha=true"):
        assert Cluster.of(OBJECTS, gates=gates).explain("web").verdict == "schedulable"


@pytest.mark.parametrize(
    ("name", "words"),
    [("default/bik", "did you mean default/big"), ("kube-system/zzz", "there are 2, such as default/big")],
)
def test_a_wrong_name_gets_the_nearest_right_one(name: str, words: str) -> None:
    with pytest.raises(KubeschedError, match=words):
        Cluster.of(OBJECTS).explain(name)


def test_a_live_cluster_is_asked_also_from_within_a_running_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in ("n1", "n2")]

    async def in_a_notebook() -> Cluster:
        return Cluster.connect()

    with a_served_cluster(tmp_path, *nodes, BIG) as served:
        connected = Cluster.connect(served.kubeconfig())
        monkeypatch.setenv("KUBECONFIG", served.kubeconfig())
        in_loop = asyncio.run(in_a_notebook())
    for cluster in (connected, in_loop):
        assert (cluster.nodes, cluster.pending) == (["n1", "n2"], ["default/new"])
        assert cluster.explain("new").verdict == "unschedulable"


def test_a_name_and_a_kubeconfig_are_two_clusters() -> None:
    with pytest.raises(
        KubeschedError, match="connect takes either the name of a cluster, or a kubeconfig and a context"
    ):
        Cluster.connect("kubeconfig", name="dev")


def test_a_cluster_of_files_needs_no_client_and_no_server() -> None:
    heavy = ("aiohttp", "kubesched_controlplane.server.server")
    code = f"import sys; from kubesched import Cluster; sys.exit(any(name in sys.modules for name in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_cluster_needs_no_commands() -> None:
    code = "import sys; from kubesched import Cluster; sys.exit('click' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_drains_have_the_options_of_kubectl() -> None:
    cluster = Cluster.of([a_node("n1"), a_node("n2"), a_pod("bare", node="n1")])
    refused, forced = (cluster.whatif(drain="n1", force=force).steps[0] for force in (False, True))
    assert ([each.pod for each in refused.refused], forced.refused) == (["default/bare"], ())
