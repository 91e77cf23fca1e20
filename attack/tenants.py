"""Pods of a tenant, on the embedded control plane with `kubesched run`; a harmless pod has to be bound in time."""

from typing import Any

from attack.attacks import attack
from attack.targets import PODS, Scheduler, a_pod

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
HOSTILE_PODS = 10


def _term(key: str) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}


def _put(scheduler: Scheduler, *pods: dict[str, Any]) -> str:
    """Create pods, expect that a harmless one is bound, and delete them."""
    found = [scheduler.api.ask("POST", PODS, pod)[0] for pod in pods]
    scheduler.serve_owner()
    scheduler.delete_all(PODS)
    return f"answered {sorted(set(found))}"


def _pods(**spec: Any) -> list[dict[str, Any]]:
    return [a_pod(f"hostile-{number}", **spec) for number in range(HOSTILE_PODS)]


@attack(Scheduler)
def affinity_terms(scheduler: Scheduler) -> str:
    """Ten pods have 1500 terms of anti-affinity each."""
    terms = [_term(f"key-{number}") for number in range(1500)]
    required = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return _put(scheduler, *_pods(affinity=required))


@attack(Scheduler)
def spread_constraints(scheduler: Scheduler) -> str:
    """Ten pods have 1000 constraints of spreading each."""
    constraints = [
        {"maxSkew": 1, "topologyKey": f"key-{number}", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
        for number in range(1000)
    ]
    return _put(scheduler, *_pods(topologySpreadConstraints=constraints))


@attack(Scheduler)
def selectors_and_tolerations(scheduler: Scheduler) -> str:
    """Ten pods have 4000 keys in their selector and 4000 tolerations."""
    selector = {f"key-{number}": "a" for number in range(4000)}
    tolerations = [{"key": f"key-{number}", "operator": "Exists"} for number in range(4000)]
    return _put(scheduler, *_pods(nodeSelector=selector, tolerations=tolerations))


@attack(Scheduler)
def extended_resources(scheduler: Scheduler) -> str:
    """Ten pods ask for 4000 resources each, of which nobody has any."""
    amounts = {f"attack.example.com/r{number}": "1" for number in range(4000)}
    container = {"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
    return _put(scheduler, *_pods(containers=[container]))


@attack(Scheduler)
def large_annotations(scheduler: Scheduler) -> str:
    """Ten pods have annotations of 250 kB."""
    return _put(
        scheduler, *(a_pod(f"hostile-{number}", meta={"annotations": {"a": "x" * 250_000}}) for number in range(10))
    )


@attack(Scheduler)
def odd_texts(scheduler: Scheduler) -> str:
    """Pods have markup, control characters and format strings where texts may be."""
    texts = (
        "<script>alert(1)</script>",
        "\x1b[31mred\x07",
        "%s%n{0.__class__}",
        "line\nI0101 12:00:00 forged log line",
    )
    pods = [
        a_pod(f"hostile-{number}", meta={"annotations": {"a": text}}, schedulerName=text)
        for number, text in enumerate(texts)
    ]
    return _put(scheduler, *pods)


@attack(Scheduler)
def device_selectors(scheduler: Scheduler) -> str:
    """Claims select devices by expressions that take for ever."""
    loop = "[1,2,3,4,5,6,7,8,9].all(a, " * 8 + "true" + ")" * 8
    expressions = (loop, "'a'.matches('(a+)+$')", "device.attributes['x'].y.find('" + "a" * 5000 + "') == ''")
    for number, expression in enumerate(expressions):
        request = {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": expression}}]}
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": f"claim-{number}"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": request}]}},
        }
        scheduler.api.ask("POST", CLAIMS, claim)
    pods = [
        a_pod(f"hostile-{number}", resourceClaims=[{"name": "c", "resourceClaimName": f"claim-{number}"}])
        for number in range(len(expressions))
    ]
    found = _put(scheduler, *pods)
    scheduler.delete_all(CLAIMS)
    return found


@attack(Scheduler)
def pods_that_come_and_go(scheduler: Scheduler) -> str:
    """A tenant creates and deletes 300 pods that fit nowhere."""
    for number in range(300):
        scheduler.api.ask("POST", PODS, a_pod(f"gone-{number}", cpu="9999"))
        if number % 50 == 49:
            scheduler.delete_all(PODS)
    return _put(scheduler)
