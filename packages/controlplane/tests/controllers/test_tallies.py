"""Pods counted as they change, and chosen to go, against all of them looked at."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.labels import selector_from_set
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.controllers.framework.views import OwnerReference
from kubesched_controlplane.controllers.workloads.pods import PodView
from kubesched_controlplane.controllers.workloads.tallies import PodTally
from kubesched_controlplane.controllers.workloads.victims import in_order_of_deletion

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
TIMES = ["2026-01-01T11:00:00Z", "2026-01-01T11:59:30Z", "2026-01-01T11:59:50Z", "2026-01-01T12:00:00Z"]
TEMPLATE = {"app": "web", "version": "2"}


def a_pod(number: int, **traits: object) -> PodView:
    """Return a pod that runs, unless told otherwise."""
    fields = {
        "namespace": "default",
        "name": f"pod-{number}",
        "uid": f"uid-{number:03}",
        "labels": TEMPLATE,
        "phase": "Running",
        "node": "n",
        "created": TIMES[0],
        "ready_since": TIMES[0],
        "deleting": False,
        "restarts": 0,
        "most_restarts": (0, 0),
        "deletion_cost": 0,
        "tracked": False,
        "owner": OwnerReference(kind="ReplicaSet", name="web", uid="set", controller=True),
    }
    return PodView(**{**fields, **traits})  # type: ignore[arg-type]


TRAITS = st.fixed_dictionaries(
    {
        "labels": st.sampled_from([TEMPLATE, {"app": "web", "version": "1"}, {"app": "other"}]),
        "phase": st.sampled_from(["Pending", "Running", "Succeeded", "Failed"]),
        "node": st.sampled_from(["", "a", "b"]),
        "ready_since": st.sampled_from([None, "", *TIMES]),
        "deleting": st.booleans(),
        "deletion_cost": st.integers(-1, 1),
        "most_restarts": st.tuples(st.integers(0, 1), st.integers(0, 1)),
    }
)


def shown(tally: PodTally) -> tuple[object, ...]:
    """Return all that a tally says."""
    counts = (tally.active, tally.labelled, tally.terminating, dict(tally.ready))
    return (*counts, tally.available(0, NOW), tally.available(20, NOW))


@given(st.lists(st.tuples(st.integers(0, 4), st.none() | TRAITS), max_size=30))
def test_counting_changes_is_counting_all(changes: list[tuple[int, dict[str, object] | None]]) -> None:
    selector = selector_from_set({"app": "web"})
    pods: dict[int, PodView] = {}
    tally = PodTally(selector, TEMPLATE, ())
    for number, traits in changes:
        before = pods.pop(number, None)
        if before is not None:
            tally.count(before, -1)
        if traits is not None:
            pods[number] = a_pod(number, **traits)
            tally.count(pods[number], 1)
        assert shown(tally) == shown(PodTally(selector, TEMPLATE, pods.values()))


def test_what_is_available_now_and_when_the_next_one_will_be() -> None:
    ready = [a_pod(number, ready_since=since) for number, since in enumerate([*TIMES, "", None])]
    tally = PodTally(selector_from_set({"app": "web"}), TEMPLATE, ready)
    assert tally.available(0, NOW) == (5, None)
    assert tally.available(20, NOW) == (2, 10.0), "those since 11:00 and 11:59:30; the one of 11:59:50 in 10 s"
    assert tally.available(20, moment("2026-01-01T12:01:00Z")) == (4, None), "one does not say since when"


@given(st.lists(TRAITS, max_size=12), st.integers(0, 12))
def test_the_first_to_go_are_those_of_all_in_order(traits: list[dict[str, object]], most: int) -> None:
    # readiness of one moment: where ages are alike as powers of two the order is no order of all
    pods = [
        a_pod(number, **{**each, "ready_since": each["ready_since"] and TIMES[0]}) for number, each in enumerate(traits)
    ]
    everybody = in_order_of_deletion(pods, NOW, len(pods), neighbours=pods)
    assert in_order_of_deletion(pods, NOW, most, neighbours=pods) == everybody[:most]
