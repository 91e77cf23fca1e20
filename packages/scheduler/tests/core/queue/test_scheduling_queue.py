"""The scheduling queue as event scripts in virtual time; names tell the fault of other schedulers they are about."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kubesched.api.pods import Pod
from kubesched.config.build import EnabledPlugin
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.plugin import FilterPlugin, Plugin, PreEnqueuePlugin
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource, Subject
from kubesched.core.framework.values.status import Status, unresolvable
from kubesched.core.plugins.priority_sort import PrioritySort
from kubesched.core.queue.queued_pod import Place, QueuedPod
from kubesched.core.queue.queueing_hints import QueueingHints
from kubesched.core.queue.scheduling_queue import QueueOptions, SchedulingQueue
from kubesched.testing import a_node, a_pod

NODE_ADDED = ClusterEvent(Resource.NODE, Action.ADD)
NODE_LABELED = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL)
NODE_TAINTED = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT)
POD_DELETED = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
GATES_GONE = ClusterEvent(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
TOLERATION = ClusterEvent(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION)

POD_REPORTED = ClusterEvent(Resource.UNSCHEDULED_POD, Action.UPDATE)
CLAIM_ADDED = ClusterEvent(Resource.RESOURCE_CLAIM, Action.ADD)


class Rejector(FilterPlugin):
    """A plugin that pods can blame; nodes help them, if the hint says so."""

    name = "Rejector"

    def __init__(self) -> None:
        self.hint: Callable[[PodInfo, Any, Any], Hint] = lambda pod, old, new: Hint.QUEUE
        self.asked = 0

    def events_to_register(self) -> Sequence[Registration]:
        return (
            Registration(ClusterEvent(Resource.NODE, Action.ADD), self._hint),
            Registration(ClusterEvent(Resource.POD, Action.UPDATE_POD_TOLERATION), self._hint),
            Registration(CLAIM_ADDED, self._hint, Subject(self._about, lambda pod: [pod.labels["waits-for"]])),
        )

    @staticmethod
    def _about(old: Any, new: Any) -> Sequence[str] | None:
        if new == "broken":
            raise RuntimeError("cannot tell")
        return None if new == "everybody" else (new,)

    def _hint(self, pod: PodInfo, old: Any, new: Any) -> Hint:
        self.asked += 1
        return self.hint(pod, old, new)


class Gatekeeper(PreEnqueuePlugin):
    """Holds back pods with scheduling gates, and raises for one called `broken`."""

    name = "Gatekeeper"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        if pod.name == "broken":
            raise RuntimeError("cannot tell")
        return unresolvable("gated") if pod.spec.scheduling_gates else None

    def events_to_register(self) -> Sequence[Registration]:
        event = ClusterEvent(Resource.POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (Registration(event, lambda pod, old, new: Hint.QUEUE),)


class Script:
    """A queue on a clock that is moved by hand; the queue is validated after every step."""

    def __init__(self, **options: Any) -> None:
        self.rejector = Rejector()
        plugins: list[Plugin] = [PrioritySort(), Gatekeeper(), self.rejector]
        points = {"queueSort": "PrioritySort", "preEnqueue": "Gatekeeper", "filter": "Rejector"}
        enabled = {point: [EnabledPlugin(name)] for point, name in points.items()}
        self.profiles = {"default-scheduler": Profile("default-scheduler", enabled, {p.name: p for p in plugins})}
        self.cluster = ClusterState()
        self.cluster.add(a_node("n1"))
        self.queue = SchedulingQueue(self.profiles, self.cluster, QueueingHints(self.profiles), QueueOptions(**options))
        self.now = 1000.0

    def info(self, pod: Pod) -> PodInfo:
        return self.cluster.reader.read(pod)

    def add(self, name: str, **words: Any) -> None:
        self.queue.add(self.info(a_pod(name, **words)), self.now)
        self.queue.validate()

    def update(self, name: str, *events: ClusterEvent, **words: Any) -> None:
        self.queue.update(self.info(a_pod(name, **words)), events, self.now)
        self.queue.validate()

    def delete(self, name: str) -> None:
        self.queue.delete(f"default-{name}")
        self.queue.validate()

    def pop(self) -> QueuedPod:
        queued = self.queue.pop()
        assert queued is not None
        self.queue.validate()
        return queued

    def reject(self, queued: QueuedPod, *plugins: str, pending: Sequence[str] = ()) -> None:
        queued.unschedulable_plugins = set(plugins) if plugins or pending else {"Rejector"}
        queued.pending_plugins = set(pending)
        self.queue.fail(queued, self.now)
        self.queue.validate()

    def error(self, queued: QueuedPod) -> None:
        self.queue.fail(queued, self.now)
        self.queue.validate()

    def event(self, event: ClusterEvent, old: Any = None, new: Any = None) -> int:
        moved = self.queue.on_event(event, old, new, self.now)
        self.queue.validate()
        return moved

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.queue.flush(self.now)
        self.queue.validate()

    def place(self, name: str) -> Place:
        queued = self.queue.get(f"default-{name}")
        return Place.GONE if queued is None else queued.place


@pytest.fixture
def script() -> Script:
    return Script()


def test_pods_are_popped_by_priority_and_then_by_time(script: Script) -> None:
    for name, priority in (("low", 1), ("first", 5), ("second", 5), ("high", 9)):
        script.add(name, priority=priority)
        script.now += 1
    assert [script.pop().pod.name for _ in range(4)] == ["high", "first", "second", "low"]
    assert script.queue.pop() is None


def test_a_rejected_pod_waits_for_an_event(script: Script) -> None:
    script.add("p")
    script.reject(script.pop())
    assert script.place("p") is Place.UNSCHEDULABLE
    assert script.queue.pop() is None
    assert script.event(NODE_LABELED) == 0
    script.wait(5)
    assert script.event(NODE_ADDED, None, a_node("n2")) == 1
    assert script.place("p") is Place.ACTIVE


@pytest.mark.parametrize(
    ("waited", "place"),
    [
        pytest.param(0.0, Place.BACKOFF, id="still backing off"),
        pytest.param(3.0, Place.ACTIVE, id="the backoff is over"),
    ],
)
def test_an_event_takes_a_pod_to_backoff_or_active(script: Script, waited: float, place: Place) -> None:
    script.add("p")
    script.reject(script.pop())
    script.now += waited
    script.event(NODE_ADDED, None, a_node("n2"))
    assert script.place("p") is place


def test_backoff_doubles_to_ten_seconds(script: Script) -> None:
    script.add("p")
    waits = []
    for _ in range(6):
        queued = script.queue.pop()
        assert queued is not None
        script.error(queued)
        start = script.now
        while script.place("p") is Place.BACKOFF:
            script.wait(0.5)
        waits.append(round(script.now - start))
    assert waits == [2, 3, 5, 9, 11, 11]


def test_a_rejected_pod_leaves_backoff_early_when_nothing_else_is_to_do_one_that_failed_does_not(
    script: Script,
) -> None:
    script.add("rejected")
    script.reject(script.pop())
    script.event(NODE_ADDED, None, a_node("n2"))
    script.add("failed")
    script.error(script.pop())
    assert script.place("rejected") is script.place("failed") is Place.BACKOFF
    assert script.pop().pod.name == "rejected"
    assert script.queue.pop() is None


def test_without_the_gate_nobody_leaves_backoff_early() -> None:
    script = Script(pop_from_backoff=False)
    script.add("p")
    script.reject(script.pop())
    script.event(NODE_ADDED, None, a_node("n2"))
    assert script.place("p") is Place.BACKOFF
    assert script.queue.pop() is None


def test_hints_can_leave_a_pod_where_it_is(script: Script) -> None:
    script.rejector.hint = lambda pod, old, new: Hint.QUEUE_SKIP
    script.add("p")
    script.reject(script.pop())
    assert script.event(NODE_ADDED, None, a_node("n2")) == 0
    assert script.place("p") is Place.UNSCHEDULABLE


def test_hints_are_asked_once_per_kind_of_pod(script: Script) -> None:
    for number in range(50):
        script.add(f"p{number}", cpu="100m")
    for _ in range(50):
        script.reject(script.pop())
    script.rejector.asked = 0
    assert script.event(NODE_ADDED, None, a_node("n2")) == 50
    assert script.rejector.asked == 1


def test_only_pods_that_wait_for_the_object_of_an_event_are_asked(script: Script) -> None:
    for name in ("a", "b", "c"):
        script.add(name, labels={"waits-for": name})
        script.reject(script.pop(), "Rejector")
    script.event(CLAIM_ADDED, None, "b")
    assert script.rejector.asked == 1
    assert [script.place(name) for name in ("a", "b", "c")] == [
        Place.UNSCHEDULABLE,
        Place.BACKOFF,
        Place.UNSCHEDULABLE,
    ]
    script.update("c", labels={"waits-for": "a"})
    script.event(CLAIM_ADDED, None, "c")
    assert script.place("c") is Place.UNSCHEDULABLE
    script.event(CLAIM_ADDED, None, "a")
    # they are alike now
    assert script.rejector.asked == 2
    assert script.place("a") is script.place("c") is Place.BACKOFF


@pytest.mark.parametrize("event", ["everybody", "broken"])
def test_all_pods_are_asked_about_an_event_that_may_help_any_or_cannot_be_told(script: Script, event: str) -> None:
    for name in ("a", "b"):
        script.add(name, labels={"waits-for": name})
        script.reject(script.pop(), "Rejector")
    script.event(CLAIM_ADDED, None, event)
    assert script.rejector.asked == 2
    assert script.place("a") is script.place("b") is Place.BACKOFF


def test_a_pod_of_which_cannot_be_told_what_it_waits_for_is_asked_always(script: Script) -> None:
    script.add("a")
    script.reject(script.pop(), "Rejector")
    script.event(CLAIM_ADDED, None, "b")
    assert script.place("a") is Place.BACKOFF


def test_a_pod_that_is_pending_is_tried_at_once(script: Script) -> None:
    script.add("p")
    script.reject(script.pop(), pending=["Rejector"])
    script.event(NODE_ADDED, None, a_node("n2"))
    assert script.place("p") is Place.ACTIVE


# -- faults of other schedulers


def test_fault_1_an_event_between_the_attempt_and_its_failure_is_not_lost(script: Script) -> None:
    script.add("p")
    queued = script.pop()
    script.event(NODE_ADDED, None, a_node("n2"))
    script.reject(queued)
    assert script.place("p") is Place.BACKOFF


def test_fault_2_only_events_after_the_pop_count(script: Script) -> None:
    script.add("other")
    other = script.pop()
    script.event(NODE_ADDED, None, a_node("n2"))
    script.add("p")
    script.reject(script.pop())
    assert script.place("p") is Place.UNSCHEDULABLE
    script.reject(other)
    assert script.place("other") is Place.BACKOFF


def test_fault_3_an_error_after_a_rejection_goes_to_backoff(script: Script) -> None:
    script.add("p")
    script.reject(script.pop())
    script.wait(20)
    script.event(NODE_ADDED, None, a_node("n2"))
    script.error(script.pop())
    assert script.place("p") is Place.BACKOFF


def test_fault_4_each_plugin_hears_of_its_own_events(script: Script) -> None:
    script.add("p")
    script.reject(script.pop(), "SomebodyElse")
    assert script.event(NODE_ADDED, None, a_node("n2")) == 0
    assert script.place("p") is Place.UNSCHEDULABLE


def test_fault_5_a_wildcard_registration_hears_of_everything() -> None:
    script = Script()
    script.rejector.events_to_register = lambda: (  # type: ignore[method-assign]
        Registration(ClusterEvent(Resource.WILDCARD, Action.ALL)),
    )
    script.queue = SchedulingQueue(script.profiles, script.cluster, QueueingHints(script.profiles))
    script.add("p")
    script.reject(script.pop())
    assert script.event(POD_DELETED, a_pod("gone", node="n1")) == 1


def test_who_waits_for_nodes_is_tried_again_when_taints_change_whatever_the_hint_says(script: Script) -> None:
    script.rejector.hint = lambda pod, old, new: Hint.QUEUE_SKIP
    script.add("p")
    script.reject(script.pop())
    assert script.event(NODE_ADDED, None, a_node("n2")) == 0
    assert script.event(NODE_TAINTED, a_node("n2"), a_node("n2", taints=["a:NoSchedule"])) == 1
    assert script.rejector.asked == 1


def test_who_registered_for_taints_is_asked_when_they_change() -> None:
    script = Script()
    script.rejector.events_to_register = lambda: (  # type: ignore[method-assign]
        Registration(ClusterEvent(Resource.NODE, Action.ADD)),
        Registration(NODE_TAINTED, lambda pod, old, new: Hint.QUEUE_SKIP),
    )
    script.queue = SchedulingQueue(script.profiles, script.cluster, QueueingHints(script.profiles))
    script.add("p")
    script.reject(script.pop())
    assert script.event(NODE_TAINTED, a_node("n2"), a_node("n2", taints=["a:NoSchedule"])) == 0


def test_fault_11_a_hint_that_raises_counts_as_queue(script: Script) -> None:
    def broken(pod: PodInfo, old: Any, new: Any) -> Hint:
        raise RuntimeError("cannot tell")

    script.rejector.hint = broken
    script.add("p")
    script.reject(script.pop())
    assert script.event(NODE_ADDED, None, a_node("n2")) == 1


def test_fault_12_a_pod_recreated_under_its_name_while_in_flight_leaks_nothing(script: Script) -> None:
    script.add("p", uid="first")
    queued = script.pop()
    script.queue.delete("first")
    script.add("p", uid="second")
    script.event(NODE_ADDED, None, a_node("n2"))
    script.reject(queued)
    assert script.queue.get("first") is None
    assert script.pop().uid == "second"
    script.queue.done("second")
    script.queue.validate()
    assert not script.queue.pods()


def test_fault_13_a_skipped_pod_is_done(script: Script) -> None:
    script.add("p")
    script.pop()
    script.event(NODE_ADDED, None, a_node("n2"))
    script.queue.done("default-p")
    script.queue.validate()
    assert not script.queue.pods()


def test_fault_15_an_unschedulable_pod_of_high_priority_does_not_block_the_others(script: Script) -> None:
    script.add("vip", priority=100)
    script.add("p", priority=1)
    script.reject(script.pop())
    assert script.pop().pod.name == "p"


def test_fault_16_an_update_of_an_unknown_pod_takes_it_in(script: Script) -> None:
    script.update("missed")
    assert script.place("missed") is Place.ACTIVE


def test_fault_18_a_gated_pod_waits_for_its_gates_and_is_not_flushed_every_time(script: Script) -> None:
    script.add("p", gates=["hold"], nominated="n1")
    assert script.place("p") is Place.GATED
    assert script.cluster.nominations.node_of("default-p") == "n1"
    assert script.event(NODE_ADDED, None, a_node("n2")) == 0
    script.wait(301)
    assert script.place("p") is Place.GATED
    flushed = script.queue.get("default-p")
    assert flushed is not None
    assert (flushed.was_flushed, flushed.flushed_at) == (False, script.now)
    script.update("p", GATES_GONE, nominated="n1")
    assert script.place("p") is Place.ACTIVE
    assert script.cluster.nominations.node_of("default-p") == "n1"


def test_a_gatekeeper_that_raises_holds_the_pod_and_is_asked_again(script: Script) -> None:
    script.add("broken")
    assert script.place("broken") is Place.GATED
    script.wait(301)
    assert script.place("broken") is Place.GATED


def test_a_missed_event_is_made_up_for_after_five_minutes(script: Script) -> None:
    script.add("p")
    script.reject(script.pop())
    script.wait(299)
    assert script.place("p") is Place.UNSCHEDULABLE
    script.wait(2)
    assert script.place("p") is Place.ACTIVE


@pytest.mark.parametrize("place", [Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED, Place.IN_FLIGHT])
def test_a_pod_is_deleted_wherever_it_is(script: Script, place: Place) -> None:
    bring_to(script, place)
    script.delete("p")
    assert not script.queue.pods()
    assert script.cluster.nominations.node_of("default-p") == ""


@pytest.mark.parametrize("place", [Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED, Place.IN_FLIGHT])
def test_a_pod_is_updated_wherever_it_is(script: Script, place: Place) -> None:
    bring_to(script, place)
    gates = ["hold"] if place is Place.GATED else []
    script.update("p", priority=7, gates=gates)
    queued = script.queue.get("default-p")
    assert queued is not None
    assert (queued.place, queued.pod.priority) == (place, 7)


def bring_to(script: Script, place: Place) -> None:
    script.add("p", gates=["hold"] if place is Place.GATED else [], nominated="n1")
    if place in (Place.ACTIVE, Place.GATED):
        return
    queued = script.pop()
    if place is Place.BACKOFF:
        script.error(queued)
    elif place is Place.UNSCHEDULABLE:
        script.reject(queued)


def test_an_update_that_helps_takes_a_pod_out_of_unschedulable(script: Script) -> None:
    script.add("p")
    script.reject(script.pop())
    script.wait(5)
    script.update("p", TOLERATION, tolerations=["dedicated:NoSchedule"])
    assert script.place("p") is Place.ACTIVE


def test_an_update_in_flight_counts_when_the_attempt_fails(script: Script) -> None:
    script.add("p")
    queued = script.pop()
    script.update("p", TOLERATION, tolerations=["dedicated:NoSchedule"])
    script.reject(queued)
    assert script.place("p") is Place.BACKOFF
    assert queued.pod.spec.tolerations


@pytest.mark.parametrize("place", [Place.BACKOFF, Place.UNSCHEDULABLE])
def test_activation_tries_a_pod_at_once(script: Script, place: Place) -> None:
    bring_to(script, place)
    script.queue.activate(["default-p", "default-unknown"], script.now)
    script.queue.validate()
    assert script.place("p") is Place.ACTIVE


def test_activation_in_flight_counts_when_the_attempt_fails(script: Script) -> None:
    script.add("p")
    queued = script.pop()
    script.queue.activate(["default-p"], script.now)
    script.reject(queued)
    assert script.place("p") is Place.BACKOFF


def test_events_are_kept_only_as_long_as_somebody_in_flight_may_need_them(script: Script) -> None:
    for name in ("a", "b"):
        script.add(name)
    first, second = script.pop(), script.pop()
    for _ in range(10):
        script.event(NODE_ADDED, None, a_node("n2"))
    script.queue.done(first.uid)
    assert script.queue._in_flight.kept_events == 10
    script.queue.done(second.uid)
    assert script.queue._in_flight.kept_events == 0


# -- reports that change nothing


def test_reports_about_a_pod_in_active_q_leave_it_its_turn(script: Script) -> None:
    for name in ("first", "second"):
        script.add(name)
    for number in range(200):
        script.update("first", POD_REPORTED, annotations={"number": str(number)})
    places = script.queue._places
    assert len(places.active._heap) == 2
    assert [script.pop().pod.name for _ in range(2)] == ["first", "second"]
    assert not script.rejector.asked


def test_an_event_about_an_object_that_no_pod_in_flight_uses_is_not_kept(script: Script) -> None:
    script.add("p", labels={"waits-for": "mine"})
    queued = script.pop()
    for number in range(100):
        script.event(CLAIM_ADDED, None, f"other-{number}")
    assert not script.queue.kept_events()
    script.event(CLAIM_ADDED, None, "mine")
    script.event(CLAIM_ADDED, None, "everybody")
    script.event(NODE_ADDED, None, a_node("n2"))
    assert script.queue.kept_events().total() == 3
    script.reject(queued)
    assert script.place("p") is Place.BACKOFF


def test_a_pod_in_flight_that_waits_for_another_object_now_is_woken_by_it(script: Script) -> None:
    script.add("p", labels={"waits-for": "mine"})
    queued = script.pop()
    script.event(CLAIM_ADDED, None, "other")
    script.update("p", labels={"waits-for": "other"})
    assert not script.queue.kept_events()
    script.event(CLAIM_ADDED, None, "mine")
    assert not script.queue.kept_events()
    script.event(CLAIM_ADDED, None, "other")
    script.reject(queued)
    assert script.place("p") is Place.BACKOFF


def test_events_are_kept_for_every_pod_in_flight_until_its_attempt_ends(script: Script) -> None:
    for name in ("p", "q"):
        script.add(name, labels={"waits-for": name})
    script.rejector.hint = lambda pod, old, new: Hint.when(new == pod.name)
    popped = [script.pop(), script.pop()]
    script.event(CLAIM_ADDED, None, "q")
    script.reject(popped[0])
    assert script.place("p") is Place.UNSCHEDULABLE
    script.event(CLAIM_ADDED, None, "p")
    assert script.queue.kept_events().total() == 1, "p is in flight no longer"
    script.reject(popped[1])
    assert (script.place("p"), script.place("q")) == (Place.BACKOFF, Place.BACKOFF)


def test_an_object_that_cannot_be_named_may_help_every_pod_in_flight(script: Script) -> None:
    script.add("p")
    script.pop()
    script.event(CLAIM_ADDED, None, "other")
    assert script.queue.kept_events().total() == 1


def test_a_report_about_a_pod_in_flight_that_no_plugin_asked_for_is_not_kept(script: Script) -> None:
    script.add("p")
    script.pop()
    script.update("p", POD_REPORTED)
    assert not script.queue.kept_events()
    script.update("p", TOLERATION)
    assert script.queue.kept_events().total() == 1
