"""Pods that change: what may, what may not, their status, and how they go."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.support.api import Asking, events_of, seen

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.server.server import ApiServer

PODS = "/api/v1/namespaces/default/pods"
POD = f"{PODS}/p"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
MAY_CHANGE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def api(clock: Clock) -> Asking:
    asking = Asking(ApiServer(access=always_allow, clock=clock, seed=1))
    if asking.ask("GET", "/api/v1/namespaces/default")[0] == 404:
        asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def create(api: Asking, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i:1"}]
    return api.ok("POST", PODS, {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}})


def problems(api: Asking, change: dict[str, Any], path: str = POD) -> list[str]:
    """Return what is wrong with a change; a merge patch puts whole lists in place."""
    code, answer = api.ask("PATCH", path, change, MERGE)
    if code == 200:
        return []
    assert (code, answer["reason"]) == (422, "Invalid"), answer
    return [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]


# -- the spec


def test_an_image_may_change_and_counts_a_generation(api: Asking) -> None:
    create(api)
    changed = api.ok("PATCH", POD, {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}, STRATEGIC)
    assert changed["spec"]["containers"][0]["image"] == "i:2"
    assert changed["metadata"]["generation"] == 2


def test_labels_may_change_and_count_none(api: Asking) -> None:
    create(api)
    changed = api.ok("PATCH", POD, {"metadata": {"labels": {"a": "b"}}}, MERGE)
    assert changed["metadata"]["labels"] == {"a": "b"}
    assert changed["metadata"]["generation"] == 1


def test_what_means_the_same_changes_nothing(api: Asking) -> None:
    created = create(api)
    same = {"spec": {"nodeName": "", "hostNetwork": False, "volumes": [], "schedulingGates": []}}
    assert api.ok("PATCH", POD, same, MERGE) == created


def test_a_pod_can_be_put_back_as_it_was_read(api: Asking) -> None:
    container = {
        "name": "c",
        "image": "i:1",
        "livenessProbe": {"grpc": {"port": 80}},
        "lifecycle": {"preStop": {"httpGet": {"port": "web"}}},
        "env": [
            {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "B", "valueFrom": {"fileKeyRef": {"volumeName": "empty", "path": "f", "key": "K"}}},
        ],
        "resources": {"limits": {"cpu": 1.5, "memory": "1024Mi", "example.com/gpu": 2}},
        "ports": [{"containerPort": 80}],
    }
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Ki"}}}
    volumes = [
        {"name": "empty"},
        {"name": "host", "hostPath": {"path": "/x"}},
        {"name": "disk", "azureDisk": {"diskName": "d", "diskURI": "https://u"}},
        {"name": "secret", "secret": {"secretName": "s"}},
        {"name": "all", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"name": "made", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
        {"name": "image", "image": {"reference": "i"}},
    ]
    created = create(api, containers=[container], volumes=volumes, resources={"limits": {"cpu": "2000m"}})
    assert api.ok("PUT", POD, created) == created
    labelled = api.ok("PATCH", POD, {"metadata": {"labels": {"a": "b"}}}, STRATEGIC)
    assert labelled["spec"] == created["spec"]


def test_a_put_without_what_was_filled_in_is_filled_in_again(api: Asking) -> None:
    created = create(api)
    spec = {"containers": [{"name": "c", "image": "i:1"}], "serviceAccountName": "default"}
    assert api.ok("PUT", POD, {"metadata": {"name": "p"}, "spec": spec})["spec"] == created["spec"]


CHANGES = [
    (
        "more containers",
        {},
        {"containers": [{"name": "c", "image": "i:1"}, {"name": "d", "image": "i:1"}]},
        ["spec.containers: Forbidden: pod updates may not add or remove containers"],
    ),
    (
        "no image",
        {},
        {"containers": [{"name": "c", "image": ""}]},
        ["spec.containers[0].image: Required value", "spec.containers[0].image: Required value"],
    ),
    (
        "a later deadline",
        {"activeDeadlineSeconds": 10},
        {"activeDeadlineSeconds": 20},
        ["spec.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value"],
    ),
    (
        "no deadline any more",
        {"activeDeadlineSeconds": 10},
        {"activeDeadlineSeconds": None},
        ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
    ),
    (
        "fewer tolerations",
        {"tolerations": [{"key": "a", "operator": "Exists"}]},
        {"tolerations": []},
        ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    ),
    (
        "more gates",
        {"schedulingGates": [{"name": "a"}]},
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        [
            "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'",
        ],
    ),
    (
        "another value for a gated pod's node",
        {"schedulingGates": [{"name": "a"}], "nodeSelector": {"disk": "ssd"}},
        {"nodeSelector": {"disk": "hdd"}},
        [
            'spec.nodeSelector: Invalid value: {"disk":"hdd"}: only additions to spec.nodeSelector are allowed (no '
            "mutations or deletions)"
        ],
    ),
]


@pytest.mark.parametrize(
    ("before", "change", "expected"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_what_may_not_change(api: Asking, before: Any, change: Any, expected: list[str]) -> None:
    create(api, **before)
    assert problems(api, {"spec": change}) == expected


ALLOWED = [
    ("an earlier deadline", {"activeDeadlineSeconds": 10}, {"activeDeadlineSeconds": 5}),
    ("a first deadline", {}, {"activeDeadlineSeconds": 5}),
    (
        "one toleration more, another for longer",
        {"tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]},
        {
            "tolerations": [
                {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9},
                {"key": "b", "operator": "Exists"},
            ]
        },
    ),
    ("a gate less", {"schedulingGates": [{"name": "a"}, {"name": "b"}]}, {"schedulingGates": [{"name": "b"}]}),
    (
        "a stricter node selector while gated",
        {"schedulingGates": [{"name": "a"}]},
        {"nodeSelector": {"disk": "ssd"}},
    ),
    (
        "the first node affinity while gated",
        {"schedulingGates": [{"name": "a"}]},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
                    }
                }
            }
        },
    ),
]


@pytest.mark.parametrize(("before", "change"), [row[1:] for row in ALLOWED], ids=[row[0] for row in ALLOWED])
def test_what_may_change(api: Asking, before: Any, change: Any) -> None:
    create(api, **before)
    assert problems(api, {"spec": change}) == []
    assert api.ok("GET", POD)["metadata"]["generation"] == 2


def test_everything_else_is_settled_and_the_answer_shows_the_difference(api: Asking) -> None:
    create(api)
    (problem,) = problems(api, {"spec": {"hostNetwork": True, "nodeName": "n"}})
    assert problem.startswith(f"spec: Forbidden: {MAY_CHANGE}")
    lines = problem.splitlines()
    assert lines[1].startswith("@@ ")
    assert '+ "hostNetwork": true,' in lines
    assert '+ "nodeName": "n",' in lines


def test_node_affinity_of_a_gated_pod_can_only_ask_for_more(api: Asking) -> None:
    def affinity(*terms: list[str]) -> dict[str, Any]:
        expressions = [[{"key": key, "operator": "Exists"} for key in term] for term in terms]
        selector = {"nodeSelectorTerms": [{"matchExpressions": each} for each in expressions]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}

    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    create(api, schedulingGates=[{"name": "g"}], affinity=affinity(["a"]))
    assert problems(api, {"spec": {"affinity": affinity(["a", "b"])}}) == []
    (problem,) = problems(api, {"spec": {"affinity": affinity(["b", "a"])}})
    assert problem.startswith(f"{path}[0]: Invalid value: ")
    assert problem.endswith(": only additions are allowed (no mutations or deletions)")
    (problem,) = problems(api, {"spec": {"affinity": affinity(["a", "b"], ["c"])}})
    assert problem.startswith(f"{path}: Invalid value: ")
    assert problem.endswith(": no additions/deletions to non-empty NodeSelectorTerms list are allowed")


def test_without_gates_a_node_selector_is_settled(api: Asking) -> None:
    create(api)
    (problem,) = problems(api, {"spec": {"nodeSelector": {"disk": "ssd"}}})
    assert problem.startswith(f"spec: Forbidden: {MAY_CHANGE}")


# -- the status


def test_a_status_changes_nothing_but_the_status(api: Asking) -> None:
    created = create(api)
    change = {"spec": {"nodeName": "n"}, "status": {"phase": "Running", "podIP": "10.0.0.1"}}
    changed = api.ok("PATCH", f"{POD}/status", change, MERGE)
    assert changed["spec"] == created["spec"]
    assert changed["metadata"]["generation"] == 1
    assert changed["status"] == {
        "phase": "Running",
        "qosClass": "BestEffort",
        "podIP": "10.0.0.1",
        "podIPs": [{"ip": "10.0.0.1"}],
    }


def test_a_change_leaves_the_status_alone(api: Asking) -> None:
    create(api)
    api.ok("PATCH", f"{POD}/status", {"status": {"phase": "Running"}}, MERGE)
    changed = api.ok("PATCH", POD, {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Failed"}}, MERGE)
    assert changed["status"]["phase"] == "Running"


def test_observed_generations_are_not_lost(api: Asking) -> None:
    create(api)
    ready = {"type": "Ready", "status": "True", "observedGeneration": 3}
    api.ok("PATCH", f"{POD}/status", {"status": {"observedGeneration": 3, "conditions": [ready]}}, MERGE)
    unaware = {"status": {"observedGeneration": None, "conditions": [{"type": "Ready", "status": "False"}]}}
    changed = api.ok("PATCH", f"{POD}/status", unaware, MERGE)["status"]
    assert changed["observedGeneration"] == 3
    assert changed["conditions"] == [{"type": "Ready", "status": "False", "observedGeneration": 3}]


STATUSES = [
    (
        "another class of service",
        {"qosClass": "Guaranteed"},
        ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ),
    (
        "a nomination that is no name",
        {"nominatedNodeName": "N!"},
        [
            'status.nominatedNodeName: Invalid value: "N!": a lowercase RFC 1123 subdomain must consist of lower case '
            "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
    ),
    (
        "a generation before the first",
        {"observedGeneration": -1},
        ["status.observedGeneration: Invalid value: -1: must be a non-negative integer"],
    ),
    (
        "addresses that are none, or too many",
        {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]},
        [
            'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for '
            "each IP family"
        ],
    ),
    (
        "the status of a claim that the pod does not have",
        {"resourceClaimStatuses": [{"name": "a"}]},
        [
            'status.resourceClaimStatuses[0].name: Invalid value: "a": must match the name of an entry in '
            "`spec.resourceClaims`"
        ],
    ),
]


@pytest.mark.parametrize(("status", "expected"), [row[1:] for row in STATUSES], ids=[row[0] for row in STATUSES])
def test_what_is_wrong_with_a_status(api: Asking, status: Any, expected: list[str]) -> None:
    create(api)
    assert problems(api, {"status": status}, f"{POD}/status") == expected


def test_a_pod_with_a_node_is_nominated_no_more(api: Asking) -> None:
    create(api, nodeName="n")
    assert problems(api, {"status": {"nominatedNodeName": "m"}}, f"{POD}/status") == [
        "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"
    ]


def test_what_has_ended_does_not_run_again_unless_it_may(api: Asking) -> None:
    def status(state: dict[str, Any]) -> dict[str, Any]:
        return {"status": {"containerStatuses": [{"name": "c", "state": state}]}}

    create(api, restartPolicy="OnFailure")
    for code, allowed in ((1, True), (0, False)):
        assert problems(api, status({"terminated": {"exitCode": code}}), f"{POD}/status") == []
        # a merge patch of a list puts it in place of the other
        expected = ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]
        assert problems(api, status({"running": {}}), f"{POD}/status") == ([] if allowed else expected)


# -- the end


def test_a_pod_without_a_node_goes_at_once(api: Asking) -> None:
    create(api)
    watch = api.watch(PODS)
    watch.take()
    last = api.ok("DELETE", POD)
    assert (last["kind"], last["metadata"]["deletionGracePeriodSeconds"]) == ("Pod", 0)
    assert api.ask("GET", POD)[0] == 404
    events = events_of(watch)
    # those who watch see it marked before they see it gone
    assert [kind for kind, _ in events] == ["MODIFIED", "DELETED"]
    assert [pod["metadata"]["deletionTimestamp"] for _, pod in events] == ["2030-01-01T12:00:00Z"] * 2


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_so_does_one_that_is_over(api: Asking, phase: str) -> None:
    create(api, nodeName="n")
    api.ok("PATCH", f"{POD}/status", {"status": {"phase": phase}}, MERGE)
    api.ok("DELETE", POD)
    assert api.ask("GET", POD)[0] == 404


def test_a_pod_with_a_node_goes_on_for_as_long_as_it_says(api: Asking, clock: Clock) -> None:
    create(api, nodeName="n", terminationGracePeriodSeconds=60)
    watch = api.watch(PODS)
    watch.take()
    going = api.ok("DELETE", POD)["metadata"]
    assert (going["deletionTimestamp"], going["deletionGracePeriodSeconds"]) == ("2030-01-01T12:01:00Z", 60)
    assert going["generation"] == 2
    clock.advance(10)
    # neither a longer period nor none changes anything
    assert api.ok("DELETE", POD)["metadata"] == going
    assert api.ok("DELETE", POD, {"gracePeriodSeconds": 100})["metadata"] == going
    # a shorter one counts from the first deletion
    shorter = api.ok("DELETE", POD, {"gracePeriodSeconds": 20})["metadata"]
    assert (shorter["deletionTimestamp"], shorter["deletionGracePeriodSeconds"]) == ("2030-01-01T12:00:20Z", 20)
    assert shorter["generation"] == 2
    # and is over already where it would have ended before
    clock.advance(5)
    over = api.ok("DELETE", POD, {"gracePeriodSeconds": 3})["metadata"]
    assert (over["deletionTimestamp"], over["deletionGracePeriodSeconds"]) == ("2030-01-01T12:00:15Z", 1)
    api.ok("DELETE", POD, {"gracePeriodSeconds": 0})
    assert api.ask("GET", POD)[0] == 404
    assert seen(watch) == [("MODIFIED", "p")] * 4 + [("DELETED", "p")]


def test_the_wish_of_who_deletes_counts_first(api: Asking) -> None:
    create(api, nodeName="n")
    assert api.ok("DELETE", POD, {"gracePeriodSeconds": 5})["metadata"]["deletionGracePeriodSeconds"] == 5


@pytest.mark.parametrize(("wish", "grace"), [(-7, 1), (2**62, 2**62)])
def test_strange_wishes_are_granted_sensibly(api: Asking, wish: int, grace: int) -> None:
    create(api, nodeName="n")
    assert api.ok("DELETE", POD, {"gracePeriodSeconds": wish})["metadata"]["deletionGracePeriodSeconds"] == grace
    api.ok("DELETE", POD, {"gracePeriodSeconds": 0})
    assert api.ask("GET", POD)[0] == 404


def test_finalizers_hold_a_pod(api: Asking) -> None:
    create(api)
    api.ok("PATCH", POD, {"metadata": {"finalizers": ["example.com/f"]}}, MERGE)
    held = api.ok("DELETE", POD)
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    api.ok("DELETE", POD)
    api.ok("PATCH", POD, {"metadata": {"finalizers": None}}, MERGE)
    assert api.ask("GET", POD)[0] == 404


def test_only_the_pod_that_is_meant_is_deleted(api: Asking) -> None:
    uid = create(api)["metadata"]["uid"]
    assert api.refused("DELETE", POD, {"preconditions": {"uid": "other"}}) == (
        409,
        "Conflict",
        f'Operation cannot be fulfilled on Pod "p": the UID in the precondition (other) does not match the UID in '
        f"record ({uid}). The object might have been deleted and then recreated",
    )
    api.ok("DELETE", POD, {"preconditions": {"uid": uid}})


def test_a_dry_run_deletes_nothing(api: Asking) -> None:
    created = create(api, nodeName="n")
    assert api.ok("DELETE", POD, dryRun="All")["metadata"]["deletionGracePeriodSeconds"] == 30
    assert api.ok("GET", POD) == created
