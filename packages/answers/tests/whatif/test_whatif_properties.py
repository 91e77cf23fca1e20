"""Whatever is tried: the differences are consistent, budgets hold, and the model is as before."""

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.models import a_model
from tests.support.whatif import APPS, a_kept_budget, by_pod, clusters, state_of

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, Taint
from kubesched.api.policy import PodDisruptionBudget
from kubesched.common.timer_loop import run_on_timers
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.whatif.consolidate import consolidate
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.operations import AddNodes, Cordon, Operation, RemoveNodes, TaintNodes
from kubesched_answers.whatif.running.beginning import begin
from kubesched_answers.whatif.running.cluster import RunningCluster
from kubesched_answers.whatif.whatif import trial_of, whatif
from kubesched_answers.whatif.whatif_answer import DELETED, LOST, NEW_PENDING, WITHOUT_PLACE
from kubesched_answers.whatif.workload_operations import DeleteObject, RescheduleAll, ScaleWorkload
from kubesched_answers.whatif.workloads import NamedObject
from kubesched_controlplane.storage.store import DELETED as DELETION
from kubesched_controlplane.storage.store import Stored


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[ApiObject], list[Operation]]:
    """Draw a cluster, and operations on it."""
    objects = draw(clusters())
    nodes = [obj for obj in objects if isinstance(obj, Node)]
    names = [node.name for node in nodes]
    owners = sorted(
        {
            (pod.metadata.owner_references[0].kind, pod.metadata.owner_references[0].name)
            for pod in objects
            if isinstance(pod, Pod)
            and pod.metadata.owner_references
            and "Daemon" not in repr(pod.metadata.owner_references)
        }
    )
    some = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True).map(tuple)
    taint = Taint(key="k", effect=draw(st.sampled_from(["NoSchedule", "NoExecute"])))
    kinds = [
        some.map(Drain),
        some.map(Cordon),
        some.map(lambda chosen: TaintNodes(chosen, taint)),
        st.sampled_from(nodes).map(lambda node: AddNodes(1, node)),
        st.just(RescheduleAll()),
    ]
    if owners:
        workload = st.sampled_from(owners).map(lambda owner: NamedObject(owner[0], "", owner[1]))
        kinds += [st.builds(ScaleWorkload, workload, st.integers(0, 6)), workload.map(DeleteObject)]
    operations = draw(st.lists(st.one_of(*kinds), min_size=1, max_size=3))
    # last, since later operations may name what it removes
    if draw(st.booleans()):
        operations.append(RemoveNodes(draw(some)))
    deleted = [each.object for each in operations if isinstance(each, DeleteObject)]
    scaled = [each.workload for each in operations if isinstance(each, ScaleWorkload)]
    if len({*deleted, *scaled}) < len(deleted) + len(scaled):
        operations = operations[:1]
    return objects, operations


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_afterwards_the_model_is_as_before(case: tuple[list[ApiObject], list[Operation]]) -> None:
    objects, operations = case
    model = a_model(*objects)
    before = state_of(model)
    first = whatif(model, operations)
    assert state_of(model) == before
    assert whatif(model, operations) == first, "the same question gets the same answer"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_the_differences_add_up_to_an_allocation_without_overcommitment(
    case: tuple[list[ApiObject], list[Operation]],
) -> None:
    objects, operations = case
    nodes = [obj for obj in objects if isinstance(obj, Node)]
    answer = whatif(a_model(*objects), operations)
    # the differences, applied to the present, are what there is
    where = {obj.full_name: obj.spec.node_name for obj in objects if isinstance(obj, Pod)}
    for change in (*answer.anyway, *answer.changes):
        name = change.pod
        if change.change in (DELETED, LOST):
            del where[name]
            continue
        where.pop(name, None)
        where[change.replaced_by or name] = change.to_node or ""
    on_nodes = Counter(node for node in where.values() if node)
    assert sum(on_nodes.values()) == answer.after.placed
    assert list(where.values()).count("") == answer.after.pending
    assert all(use.requested <= use.allocatable for use in answer.after.uses), answer.after.uses
    assert answer.after.nodes >= len(nodes) - sum(
        len(each.nodes) for each in operations if isinstance(each, RemoveNodes)
    )
    counted = Counter(change.change for change in answer.changes)
    assert {kind: number for kind, number in answer.counts.items() if kind != "stays"} == counted


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters(), st.data())
def test_a_drain_leaves_what_it_says_that_it_leaves(objects: list[ApiObject], data: st.DataObject) -> None:
    model = a_model(*objects)
    nodes = tuple(data.draw(st.permutations(model.node_names())))[: data.draw(st.integers(1, 3))]
    answer = whatif(model, [Drain(nodes, force=True)])
    step = answer.steps[0]
    reached = {each.node for each in step.rounds} | {each.node for each in step.held_up}
    left = {each.pod for each in step.left} | {each.pod for each in step.held_up}
    gone = {name for each in step.rounds for name in each.pods}
    assert not left & gone
    budgets = {obj.metadata.name for obj in objects if isinstance(obj, PodDisruptionBudget)}
    assert {name for each in step.held_up for name in each.budgets} <= {f"default/{name}" for name in budgets}
    changes = {change.pod: change for change in answer.changes}
    for name in gone:
        assert changes[name].to_node not in nodes, "nothing comes back to a drained node"
    assert reached <= set(nodes)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters(), st.fixed_dictionaries({app: st.integers(0, 4) for app in APPS}), st.data())
def test_no_eviction_of_a_drain_violates_a_budget(
    objects: list[ApiObject], least: dict[str, int], data: st.DataObject
) -> None:
    # preemption may violate budgets
    equal = [
        replace(obj, spec=replace(obj.spec, priority=0)) if isinstance(obj, Pod) else obj
        for obj in objects
        if not isinstance(obj, PodDisruptionBudget)
    ]
    budgets = [a_kept_budget(app, f"app={app}", min_available=number) for app, number in least.items()]
    model = a_model(*equal, *budgets)
    nodes = tuple(data.draw(st.permutations(model.node_names())))[: data.draw(st.integers(1, 3))]
    evicted = run_on_timers(_healthy_after_evictions(model, Drain(nodes, force=True)))
    assert [each for each in evicted if each[1] < least[each[0]]] == []


async def _healthy_after_evictions(model: ClusterModel, drain: Drain) -> list[tuple[str, int]]:
    """Return the app of each healthy pod that is evicted, and how many pods of the app are healthy after that."""
    cluster = RunningCluster(model.source, model.loaded)
    healthy: dict[str, str] = {}
    evicted: list[tuple[str, int]] = []

    def count(stored: Stored, gone: bool) -> None:
        pod = stored.document()
        if not gone and "deletionTimestamp" not in pod["metadata"] and _is_ready(pod):
            healthy[stored.name] = pod["metadata"]["labels"]["app"]
        elif (app := healthy.pop(stored.name, None)) is not None:
            evicted.append((app, list(healthy.values()).count(app)))

    async with cluster.running():
        await cluster.settle()
        store = cluster.server.registry.store
        for stored in store.set_of("pods"):
            count(stored, False)
        stop = store.watch("pods", lambda change: count(change.new, change.type == DELETION))
        begin(cluster, drain)
        await cluster.settle()
        stop()
    return evicted


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters())
def test_the_plan_of_a_consolidation_can_be_carried_out_step_by_step(objects: list[ApiObject]) -> None:
    model = a_model(*objects)
    before = state_of(model)
    plan = consolidate(model)
    assert state_of(model) == before
    fresh = a_model(*objects)
    names = tuple(each.node for each in plan.emptied)
    with trial_of(fresh) as trial:
        Cordon(names).apply(trial)
        for step in plan.emptied:
            for moves in step.rounds:
                for move in moves:
                    assert trial.budgets.refuse(fresh.pods[move.pod]) is None, "within its budget"
                    trial.displace(fresh.pods[move.pod])
                trial.settle({fresh.pods[move.pod].uid for move in moves})
                assert {move.pod: move.to_node for move in moves} == {
                    move.pod: trial.node_of(fresh.pods[move.pod]) for move in moves
                }
            left = [pod.full_name for pod in trial.pods_on(step.node)]
            assert left == [each.pod for each in step.left]
    assert {each.node for each in plan.emptied}.isdisjoint(each.node for each in plan.kept)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters())
def test_a_pod_that_is_pending_has_the_schedulers_message(objects: list[ApiObject]) -> None:
    answer = whatif(a_model(*objects), [])
    for change in by_pod(answer).values():
        assert bool(change.message) == (change.change in (*WITHOUT_PLACE, NEW_PENDING))
