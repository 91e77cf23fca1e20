"""Eviction: pods go where their disruption budgets can bear it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.api import Asking, seen

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.server.server import ApiServer

PODS = "/api/v1/namespaces/default/pods"
POD = f"{PODS}/p"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
MERGE = "application/merge-patch+json"
SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."


@pytest.fixture
def api() -> Asking:
    asking = Asking(ApiServer(access=always_allow, clock=lambda: NOW, seed=1))
    if asking.ask("GET", "/api/v1/namespaces/default")[0] == 404:
        asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def create(api: Asking, *, phase: str = "Running", ready: bool = True, node: str = "n") -> dict[str, Any]:
    """Return a pod that runs on a node."""
    spec = {"containers": [{"name": "c", "image": "i"}], **({"nodeName": node} if node else {})}
    api.ok("POST", PODS, {"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": spec})
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    return api.ok("PATCH", f"{POD}/status", {"status": {"phase": phase, "conditions": [condition]}}, MERGE)


def a_budget(api: Asking, name: str = "b", spec: Any = None, **status: Any) -> dict[str, Any]:
    """Return a budget for the pod, whose controller has seen it."""
    selector = {"matchLabels": {"app": "web"}}
    api.ok("POST", BUDGETS, {"metadata": {"name": name}, "spec": {"selector": selector, **(spec or {})}})
    seen_by_controller = {"observedGeneration": 1, "disruptionsAllowed": 0, **status}
    return api.ok("PATCH", f"{BUDGETS}/{name}/status", {"status": seen_by_controller}, MERGE)


def an_eviction(**options: Any) -> dict[str, Any]:
    eviction: dict[str, Any] = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    return {**eviction, "deleteOptions": options} if options else eviction


def evict(api: Asking, **options: Any) -> tuple[int, dict[str, Any]]:
    return api.ask("POST", f"{POD}/eviction", an_eviction(**options))


def test_a_pod_without_a_budget_goes_and_knows_why(api: Asking) -> None:
    create(api)
    watch = api.watch(PODS)
    watch.take()
    assert evict(api) == (201, SUCCESS)
    pod = api.ok("GET", POD)
    assert pod["metadata"]["deletionTimestamp"] == "2030-01-01T12:00:30Z"
    assert pod["status"]["conditions"][-1] == {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastTransitionTime": "2030-01-01T12:00:00Z",
    }
    assert seen(watch) == [("MODIFIED", "p")] * 2


def test_a_budget_is_charged(api: Asking) -> None:
    create(api)
    a_budget(api, disruptionsAllowed=2, currentHealthy=3, desiredHealthy=1)
    assert evict(api)[0] == 201
    status = api.ok("GET", f"{BUDGETS}/b")["status"]
    assert status["disruptionsAllowed"] == 1
    assert status["disruptedPods"] == {"p": "2030-01-01T12:00:00Z"}
    assert "conditions" not in status


def test_the_last_of_a_budget_is_told(api: Asking) -> None:
    create(api)
    a_budget(api, disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1)
    assert evict(api)[0] == 201
    (condition,) = api.ok("GET", f"{BUDGETS}/b")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "DisruptionAllowed",
        "False",
        "InsufficientPods",
    )


EXHAUSTED = [
    (
        "a budget that needs all it has",
        {"currentHealthy": 2, "desiredHealthy": 3},
        "The disruption budget b needs 3 healthy pods and has 2 currently",
    ),
    (
        "a budget whose controller failed",
        {
            "conditions": [
                {
                    "type": "DisruptionAllowed",
                    "status": "False",
                    "reason": "SyncFailed",
                    "message": "no scale",
                    "lastTransitionTime": "2030-01-01T12:00:00Z",
                }
            ]
        },
        "The disruption budget b does not allow evicting pods currently because it failed sync: no scale",
    ),
    (
        "a budget that says why",
        {
            "currentHealthy": 4,
            "desiredHealthy": 3,
            "conditions": [
                {
                    "type": "DisruptionAllowed",
                    "status": "False",
                    "reason": "InsufficientPods",
                    "message": "not now",
                    "lastTransitionTime": "2030-01-01T12:00:00Z",
                }
            ],
        },
        "The disruption budget b does not allow evicting pods currently (InsufficientPods): not now",
    ),
    (
        "a budget that does not",
        {"currentHealthy": 4, "desiredHealthy": 3},
        "The disruption budget b does not allow evicting pods currently",
    ),
]


@pytest.mark.parametrize(("status", "why"), [row[1:] for row in EXHAUSTED], ids=[row[0] for row in EXHAUSTED])
def test_an_exhausted_budget_keeps_its_pods(api: Asking, status: Any, why: str) -> None:
    before = create(api)
    a_budget(api, **status)
    code, answer = evict(api)
    assert (code, answer["reason"], answer["message"]) == (429, "TooManyRequests", VIOLATES)
    assert answer["details"] == {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    assert api.ok("GET", POD) == before


def test_a_budget_that_nobody_has_looked_at_yet_lets_nobody_go(api: Asking) -> None:
    create(api)
    a_budget(api, observedGeneration=0, disruptionsAllowed=5)
    response = api.raw("POST", f"{POD}/eviction", b'{"metadata":{"name":"p"}}')
    assert (response.code, response.headers["Retry-After"]) == (429, "10")
    (cause,) = response.document()["details"]["causes"]
    assert cause["message"] == "The disruption budget b is still being processed by the server."


def test_too_many_who_are_on_their_way_stop_the_next(api: Asking) -> None:
    create(api)
    going = {f"p{number}": "2030-01-01T12:00:00Z" for number in range(2001)}
    a_budget(api, disruptionsAllowed=1, disruptedPods=going)
    code, answer = evict(api)
    assert (code, answer["message"]) == (
        403,
        'poddisruptionbudget.policy "b" is forbidden: DisruptedPods map too big - too many evictions not confirmed by '
        "PDB controller",
    )


def test_several_budgets_are_more_than_can_be_obeyed(api: Asking) -> None:
    create(api)
    a_budget(api, "b", disruptionsAllowed=1)
    a_budget(api, "c", disruptionsAllowed=1)
    code, answer = evict(api)
    assert code == 500
    assert answer["message"] == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    )


FREE = [
    ("a pod that has no node yet", {"phase": "Pending", "node": ""}),
    ("a pod that is starting", {"phase": "Pending"}),
    ("a pod that has ended well", {"phase": "Succeeded"}),
    ("a pod that has failed", {"phase": "Failed"}),
]


@pytest.mark.parametrize("pod", [row[1] for row in FREE], ids=[row[0] for row in FREE])
def test_who_does_not_run_goes_freely(api: Asking, pod: Any) -> None:
    create(api, **pod)
    budget = a_budget(api)
    assert evict(api)[0] == 201
    assert api.ok("GET", f"{BUDGETS}/b") == budget


def test_who_is_going_already_goes_freely(api: Asking) -> None:
    create(api)
    a_budget(api)
    api.ok("DELETE", POD)
    assert evict(api)[0] == 201


UNREADY = [
    ("its others are healthy enough", {}, {"currentHealthy": 3, "desiredHealthy": 3}, 201),
    ("its others are not", {}, {"currentHealthy": 2, "desiredHealthy": 3}, 429),
    ("nothing is wanted of it", {}, {"currentHealthy": 0, "desiredHealthy": 0}, 429),
    ("its budget does not care", {"unhealthyPodEvictionPolicy": "AlwaysAllow"}, {"desiredHealthy": 3}, 201),
    (
        "its budget cares, by name",
        {"unhealthyPodEvictionPolicy": "IfHealthyBudget"},
        {"currentHealthy": 2, "desiredHealthy": 3},
        429,
    ),
]


@pytest.mark.parametrize(("spec", "status", "code"), [row[1:] for row in UNREADY], ids=[row[0] for row in UNREADY])
def test_who_is_not_ready_goes_if(api: Asking, spec: Any, status: Any, code: int) -> None:
    create(api, ready=False)
    budget = a_budget(api, spec=spec, **status)
    assert evict(api)[0] == code
    # the budget is not charged for a pod that it did not count on
    assert api.ok("GET", f"{BUDGETS}/b") == budget


def test_budgets_of_other_pods_do_not_matter(api: Asking) -> None:
    create(api)
    a_budget(api, "other", {"selector": {"matchLabels": {"app": "db"}}})
    a_budget(api, "none", {"selector": None})
    assert evict(api)[0] == 201


def test_the_way_to_go_can_be_chosen(api: Asking) -> None:
    create(api)
    assert evict(api, gracePeriodSeconds=0)[0] == 201
    assert api.ask("GET", POD)[0] == 404


def test_only_the_pod_that_is_meant_goes_and_its_budget_keeps_its_allowance(api: Asking) -> None:
    pod = create(api)
    budget = a_budget(api, disruptionsAllowed=1)
    code, answer = evict(api, preconditions={"uid": "other"})
    assert (code, answer["message"]) == (
        409,
        'Operation cannot be fulfilled on Pod "p": the UID in the precondition (other) does not match the UID in '
        f"record ({pod['metadata']['uid']}). The object might have been deleted and then recreated",
    )
    assert api.ok("GET", f"{BUDGETS}/b") == budget
    version = pod["metadata"]["resourceVersion"]
    assert evict(api, preconditions={"uid": pod["metadata"]["uid"], "resourceVersion": version})[0] == 201


def test_a_dry_run_asks_the_budget_and_changes_nothing(api: Asking) -> None:
    pod = create(api)
    budget = a_budget(api, disruptionsAllowed=1)
    assert evict(api, dryRun=["All"])[0] == 201
    assert api.ask("POST", f"{POD}/eviction", an_eviction(), dryRun="All")[0] == 201
    assert (api.ok("GET", POD), api.ok("GET", f"{BUDGETS}/b")) == (pod, budget)
    api.ok("PATCH", f"{BUDGETS}/b/status", {"status": {"disruptionsAllowed": 0}}, MERGE)
    assert evict(api, dryRun=["All"])[0] == 429


MALFORMED: list[tuple[str, bytes, str]] = [
    ("no JSON", b"{", ""),
    ("a list", b"[]", ""),
    ("options that are a text", b'{"metadata":{"name":"p"},"deleteOptions":"now"}', ""),
    ("another pod", b'{"metadata":{"name":"q"}}', "name in URL does not match name in Eviction object"),
    ("no pod", b"{}", "name in URL does not match name in Eviction object"),
    (
        "another namespace",
        b'{"metadata":{"name":"p","namespace":"x"}}',
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
    (
        "another version",
        b'{"apiVersion":"v1","kind":"Eviction","metadata":{"name":"p"}}',
        "",
    ),
]


@pytest.mark.parametrize(("body", "message"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED])
def test_what_is_no_eviction_of_the_pod(api: Asking, body: bytes, message: str) -> None:
    create(api)
    answer = api.raw("POST", f"{POD}/eviction", body).document()
    assert (answer["code"], answer["reason"]) == (400, "BadRequest")
    assert not message or answer["message"] == message


def test_the_old_version_is_understood(api: Asking) -> None:
    create(api)
    assert api.ask("POST", f"{POD}/eviction", {**an_eviction(), "apiVersion": "policy/v1beta1"})[0] == 201


def test_a_pod_that_is_not_there_is_not_evicted(api: Asking) -> None:
    assert api.refused("POST", f"{POD}/eviction", an_eviction()) == (404, "NotFound", 'pods "p" not found')
