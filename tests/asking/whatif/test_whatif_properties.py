"""Whatever is tried: the differences are consistent, budgets hold, and the model is as before."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.whatif import by_pod, clusters, state_of

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, Taint
from kubesched.api.policy import PodDisruptionBudget
from kubesched.asking.pod_owners import bound_to_node
from kubesched.asking.whatif.consolidate import consolidate
from kubesched.asking.whatif.draining import Drain
from kubesched.asking.whatif.operations import AddNodes, Cordon, Operation, RemoveNodes, TaintNodes
from kubesched.asking.whatif.trial import WhatIfTrial
from kubesched.asking.whatif.whatif import trial_of, whatif
from kubesched.asking.whatif.whatif_answer import DELETED, LOST, NEW_PENDING, WITHOUT_PLACE
from kubesched.asking.whatif.workload_operations import DeleteObject, RescheduleAll, ScaleWorkload
from kubesched.asking.whatif.workloads import NamedObject
from kubesched.core.cluster.pod_info import without_node


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
            if isinstance(pod, Pod) and pod.metadata.owner_references
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


@settings(max_examples=40)
@given(cases())
def test_afterwards_the_model_is_as_before(case: tuple[list[ApiObject], list[Operation]]) -> None:
    objects, operations = case
    model = a_model(*objects)
    before = state_of(model)
    first = whatif(model, operations)
    assert state_of(model) == before
    assert whatif(model, operations) == first, "the same question gets the same answer"


@settings(max_examples=40)
@given(cases())
def test_the_differences_add_up_to_an_allocation_without_overcommitment(
    case: tuple[list[ApiObject], list[Operation]],
) -> None:
    objects, operations = case
    model = a_model(*objects)
    answer = whatif(model, operations)
    with trial_of(model) as trial:
        for operation in operations:
            operation.apply(trial)
        trial.settle()
        table = model.cluster.table
        rows = table.present_rows()
        assert (table.requested[:2, rows] <= table.allocatable[:2, rows]).all()
        assert (table.pod_count[rows] <= table.allowed_pods[rows]).all()
        # the differences, applied to the present, are what there is
        where = {pod.full_name: pod.pod.spec.node_name for pod in trial.before.values()}
        for change in answer.changes:
            where[change.pod] = change.to_node or ""
            if change.change in (DELETED, LOST):
                del where[change.pod]
        assert where == {name: trial.node_of(pod) for name, pod in model.pods.items()}
        assert np.array_equal(table.pod_count[rows], [len(table.pods_on[row]) for row in rows.tolist()])
        _placed_pods_pass_their_filters(trial, {change.pod for change in answer.changes if change.to_node})
    counted = Counter(change.change for change in answer.changes)
    assert {kind: number for kind, number in answer.counts.items() if kind != "stays"} == counted


def _placed_pods_pass_their_filters(trial: WhatIfTrial, names: set[str]) -> None:
    """Take each placed pod off its node: it passes the filters there."""
    model = trial.model
    for name in sorted(names):
        placed = model.cluster.table.pods[model.pods[name].uid]
        if bound_to_node(placed) or placed.spec.topology_spread_constraints:
            # a spread holds when the pod is placed; later evictions may change the counts
            continue
        node = placed.spec.node_name
        with model.cluster.without([placed]):
            evaluation = model.engine.evaluation_of(model.read(without_node(placed.pod)))
            status = evaluation.verdicts().status(model.cluster.table.row_of[node])
            # a node that was cordoned or tainted afterwards keeps what it has
            later = ("NodeUnschedulable", "TaintToleration")
            assert evaluation.feasible().mask[model.cluster.table.row_of[node]] or status.plugin in later, (
                name,
                status,
            )


@settings(max_examples=40)
@given(clusters(), st.data())
def test_no_round_of_a_drain_violates_a_budget(objects: list[ApiObject], data: st.DataObject) -> None:
    model = a_model(*objects)
    nodes = tuple(data.draw(st.permutations(model.node_names())))[: data.draw(st.integers(1, 3))]
    answer = whatif(model, [Drain(nodes)])
    step = answer.steps[0]
    budgets = {obj.name: obj.status.disruptions_allowed for obj in objects if isinstance(obj, PodDisruptionBudget)}
    pods = {obj.full_name: obj for obj in objects if isinstance(obj, Pod)}
    changes = {change.pod: change for change in answer.changes}
    out: Counter[str] = Counter()
    for each in step.rounds:
        out.update(pods[name].metadata.labels["app"] for name in each.pods)
        for app, allowed in budgets.items():
            assert out[app] <= allowed, (each, app)
        # those that have a place again are healthy in the next round
        for name in each.pods:
            change = changes.get(name)
            if change is not None and change.to_node and not change.preempted_by:
                out[pods[name].metadata.labels["app"]] -= 1
    for held in step.held_up:
        assert budgets[pods[held.pod].metadata.labels["app"]] == 0 or out[pods[held.pod].metadata.labels["app"]]
    on_nodes = {obj.full_name for obj in pods.values() if obj.spec.node_name in nodes}
    left = {each.pod for each in step.left} | {each.pod for each in step.held_up}
    assert on_nodes == left | {name for each in step.rounds for name in each.pods if pods[name].spec.node_name in nodes}


@settings(max_examples=40)
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


@settings(max_examples=20)
@given(clusters())
def test_a_pod_that_is_pending_has_the_schedulers_message(objects: list[ApiObject]) -> None:
    answer = whatif(a_model(*objects), [])
    for change in by_pod(answer).values():
        assert bool(change.message) == (change.change in (*WITHOUT_PLACE, NEW_PENDING))
