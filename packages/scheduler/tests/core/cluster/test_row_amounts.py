"""Amounts by row are those of the table, whatever changed since they were last asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.row_amounts import Amounts, allocatable, amounts_by_row, free, requested
from kubesched.testing import a_node, a_pod

NAMES = ("n0", "n1", "n2")
steps = st.one_of(
    st.tuples(st.just("node"), st.sampled_from(NAMES), st.integers(1, 4)),
    st.tuples(st.just("no node"), st.sampled_from(NAMES), st.just(0)),
    st.tuples(st.just("pod"), st.sampled_from(NAMES), st.integers(1, 4)),
    st.tuples(st.just("no pod"), st.sampled_from(NAMES), st.integers(1, 4)),
)


def take(cluster: ClusterState, what: str, name: str, number: int) -> None:
    pod = a_pod(f"{name}-{number}", node=name, cpu=str(number), memory="1Ki")
    if what == "node":
        cluster.add(a_node(name, cpu=str(number), memory=f"{number}Gi", pods=number))
    elif what == "no node" and name in cluster.table.row_of:
        cluster.remove(a_node(name))
    elif what == "pod":
        cluster.add(pod)
    elif what == "no pod":
        cluster.remove(pod)


@given(st.lists(steps, max_size=30))
def test_kept_amounts_equal_fresh_ones(story: list[tuple[str, str, int]]) -> None:
    cluster = ClusterState()
    table = cluster.table
    for step in story:
        take(cluster, *step)
        for which in (allocatable, requested, free):
            fresh = [Amounts(*column) for column in which(table, slice(0, table.size)).T.tolist()]
            assert amounts_by_row(table, which) == fresh, (which.__name__, step)


@pytest.mark.parametrize(("which", "amounts"), [(allocatable, (4000, 2**30, 0, 9)), (requested, (1000, 1024, 0, 1))])
def test_amounts_have_names(which: object, amounts: tuple[int, ...]) -> None:
    cluster = ClusterState()
    cluster.add(a_node("n", cpu="4", memory="1Gi", pods=9))
    cluster.add(a_pod("p", node="n", cpu="1", memory="1Ki"))
    assert amounts_by_row(cluster.table, which) == [Amounts(*amounts)]  # type: ignore[arg-type]
