"""Cursors over the change log, and columns that follow it."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kubesched.core.cluster.changes import CAPACITY, Changes, Reads
from kubesched.core.cluster.following import (
    EVERYTHING,
    FEW_ROWS,
    SOME_ROWS,
    CombinedColumn,
    Cursor,
    DerivedColumn,
    Extent,
    RowwiseColumn,
    too_many,
)
from kubesched.core.cluster.table import NodeTable
from kubesched.testing import a_cluster, a_node, a_pod

NODES = [a_node(f"n{number}", cpu="64", labels={"disk": "ssd"}) for number in range(4)]


def rows_of(changed: Changes | Extent | None, groups: int) -> list[int] | str:
    """Return what a cursor says in short: the rows, "everything" or "nothing"."""
    if changed is None:
        return "nothing"
    return "everything" if changed is EVERYTHING else changed.touching(groups)


# -- cursors


def test_a_cursor_says_what_changed_of_what_its_reader_reads() -> None:
    cluster = a_cluster(*NODES)
    labels, pods = Cursor(cluster.table, Reads.LABELS), Cursor(cluster.table, Reads.PODS)
    assert rows_of(labels.advance(), Reads.LABELS) == "everything", "the first look is at all of it"
    pods.advance()
    cluster.add(a_node("n2", cpu="64", labels={"disk": "hdd"}))
    assert rows_of(pods.advance(), Reads.PODS) == "nothing"
    assert rows_of(labels.advance(), Reads.LABELS) == [2]
    assert rows_of(labels.advance(), Reads.LABELS) == "nothing"
    cluster.add(a_pod("p", node="n1", cpu="1"))
    assert rows_of(labels.advance(), Reads.LABELS) == "nothing"
    assert rows_of(pods.advance(), Reads.PODS) == [1]


def test_an_epoch_and_rows_that_are_added_touch_everything_and_the_log_still_names_rows() -> None:
    cluster = a_cluster(*NODES)
    cursor = Cursor(cluster.table, Reads.PODS | Reads.NAMESPACES)
    cursor.advance()
    cluster.log.record(3, Reads.PODS)
    cluster.log.record(-1, Reads.NAMESPACES)
    assert cursor.advance() is EVERYTHING
    named = cursor.named()
    assert named is not None
    assert named.touching(Reads.PODS) == [3]
    cluster.add(a_node("another"))
    assert rows_of(cursor.advance(), Reads.PODS) == "everything"


def test_a_cursor_that_was_lost_or_fell_off_the_log_starts_again() -> None:
    cluster = a_cluster(*NODES)
    cursor = Cursor(cluster.table, Reads.PODS)
    cursor.advance()
    cursor.lose()
    assert cursor.advance() is EVERYTHING
    assert cursor.named() is None
    for _ in range(2 * CAPACITY + 1):
        cluster.log.record(0, Reads.LABELS)
    assert cursor.advance() is EVERYTHING
    cluster.log.record(1, Reads.PODS)
    assert rows_of(cursor.advance(), Reads.PODS) == [1]


# -- columns


class Counted(RowwiseColumn):
    """Copies an array of the test's, which stands for the table; notes how it was asked."""

    def __init__(self, table: NodeTable, source: NDArray[np.int64], reads: int = Reads.PODS) -> None:
        super().__init__(table, reads)
        self.source = source
        self.values: NDArray[np.int64] = np.zeros(0, np.int64)
        self.asked: list[str] = []

    def evaluate(self) -> None:
        self.asked.append("all")
        self.values = self.source.copy()

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        self.asked.append(f"{len(rows)} gathered")
        self.values[rows] = self.source[rows]

    def evaluate_few(self, rows: Sequence[int]) -> None:
        self.asked.append(f"{len(rows)} one by one")
        for row in rows:
            self.values[row] = self.source[row]


class Wide(DerivedColumn):
    """The sum of all values, in every row: a change of one row is a change of all."""

    def __init__(self, table: NodeTable, source: NDArray[np.int64]) -> None:
        super().__init__(table, Reads.LABELS)
        self.source = source
        self.values: NDArray[np.int64] = np.zeros(0, np.int64)

    def evaluate(self) -> None:
        self.values = np.full(len(self.source), self.source.sum())

    def catch_up(self, changes: Changes) -> None:
        self.evaluate()
        self.generation += 1


class Sum(CombinedColumn):
    """The sum of some columns, row by row."""

    def __init__(self, table: NodeTable, inputs: Sequence[Counted | Wide]) -> None:
        super().__init__(table, inputs)
        self.inputs = inputs
        self.values: NDArray[np.int64] = np.zeros(0, np.int64)
        self.whole = 0

    def evaluate(self) -> None:
        self.whole += 1
        self.values = np.sum([column.values for column in self.inputs], axis=0)

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        self.values[rows] = sum(column.values[rows] for column in self.inputs)

    def evaluate_few(self, rows: Sequence[int]) -> None:
        for row in rows:
            self.values[row] = sum(int(column.values[row]) for column in self.inputs)


@pytest.mark.parametrize(
    ("changed", "asked"),
    [
        (1, "1 one by one"),
        (FEW_ROWS, "25 one by one"),
        (FEW_ROWS + 1, "26 gathered"),
        (400 // SOME_ROWS, "50 gathered"),
        (400 // SOME_ROWS + 1, "all"),
    ],
)
def test_few_rows_are_looked_at_one_by_one_some_are_gathered_of_more_all(changed: int, asked: str) -> None:
    cluster = a_cluster(*(a_node(f"n{number}") for number in range(400)))
    source = np.zeros(400, np.int64)
    column = Counted(cluster.table, source)
    column.refresh()
    generation = column.generation
    source[:changed] = 7
    for row in range(changed):
        cluster.log.record(row, Reads.PODS)
    column.refresh()
    assert column.asked == ["all", asked]
    assert column.values.tolist() == source.tolist()
    assert column.generation == generation + (asked == "all"), "the log names all rows, unless all are made anew"
    assert too_many(changed, 400) == (asked == "all")


def test_a_column_that_fails_to_catch_up_is_made_anew() -> None:
    cluster = a_cluster(*NODES)
    source = np.zeros(4, np.int64)

    class Failing(Counted):
        def evaluate_few(self, rows: Sequence[int]) -> None:
            raise KeyboardInterrupt

    column = Failing(cluster.table, source)
    column.refresh()
    source[1] = 5
    cluster.log.record(1, Reads.PODS)
    with pytest.raises(KeyboardInterrupt):
        column.refresh()
    column.refresh()
    assert column.values.tolist() == [0, 5, 0, 0]


def test_a_combined_column_leaves_inputs_alone_of_which_nothing_changed() -> None:
    cluster = a_cluster(*NODES)
    pods, ports = np.zeros(4, np.int64), np.zeros(4, np.int64)
    of_pods, of_ports = Counted(cluster.table, pods), Counted(cluster.table, ports, Reads.PORTS)
    combined = Sum(cluster.table, [of_pods, of_ports])
    combined.refresh()
    pods[2] = 3
    cluster.log.record(2, Reads.PODS)
    cluster.log.record(1, Reads.TAINTS)
    combined.refresh()
    assert combined.values.tolist() == [0, 0, 3, 0]
    assert (of_pods.asked, of_ports.asked) == (["all", "1 one by one"], ["all"])
    assert combined.whole == 1
    assert of_ports.cursor.seq < cluster.log.seq, "it is true all the same"
    ports[0] = 5
    cluster.log.record(0, Reads.PORTS)
    combined.refresh()
    assert combined.values.tolist() == [5, 0, 3, 0]
    assert of_ports.asked == ["all", "1 one by one"]


def test_a_combined_column_notices_rows_of_an_input_that_the_log_does_not_name() -> None:
    cluster = a_cluster(*NODES)
    source = np.zeros(4, np.int64)
    wide = Wide(cluster.table, source)
    first, second = Sum(cluster.table, [wide]), Sum(cluster.table, [wide])
    first.refresh()
    second.refresh()
    source[1] = 2
    cluster.log.record(1, Reads.LABELS)
    first.refresh()
    assert first.values.tolist() == [2, 2, 2, 2]
    second.refresh()
    assert second.values.tolist() == [2, 2, 2, 2], "though another column refreshed the input"


STEPS = st.lists(
    st.tuples(st.sampled_from(["pods", "labels", "both", "other", "first", "second"]), st.integers(0, 39)), max_size=60
)


@settings(deadline=None)
@given(STEPS)
def test_columns_that_share_inputs_are_true_whenever_they_are_refreshed(steps: list[tuple[str, int]]) -> None:
    cluster = a_cluster(*(a_node(f"n{number}") for number in range(40)))
    pods, labels = np.zeros(40, np.int64), np.zeros(40, np.int64)
    of_pods, of_labels = Counted(cluster.table, pods), Counted(cluster.table, labels, Reads.LABELS)
    wide = Wide(cluster.table, labels)
    first, second = Sum(cluster.table, [of_pods, of_labels]), Sum(cluster.table, [of_pods, wide])
    for step, row in steps:
        if step in ("pods", "both"):
            pods[row] += 1
            cluster.log.record(row, Reads.PODS)
        if step in ("labels", "both"):
            labels[row] += 1
            cluster.log.record(row, Reads.LABELS)
        if step == "other":
            cluster.log.record(row, Reads.IMAGES)
        if step == "first":
            first.refresh()
            assert first.values.tolist() == (pods + labels).tolist()
        if step == "second":
            second.refresh()
            assert second.values.tolist() == (pods + labels.sum()).tolist()
