"""The change log: what happened since, and how far back it reaches."""

from kubesched.core.cluster.changes import CAPACITY, EVERYWHERE, ChangeLog, Group


def test_changes_of_a_row_are_united() -> None:
    log = ChangeLog()
    start = log.seq
    log.record(3, Group.LABELS)
    log.record(5, Group.RESOURCES | Group.PODS)
    log.record(3, Group.TAINTS)
    changes = log.since(start)
    assert changes is not None
    assert changes.rows == {3: Group.LABELS | Group.TAINTS, 5: Group.RESOURCES | Group.PODS}
    assert changes.groups == Group.LABELS | Group.TAINTS | Group.RESOURCES | Group.PODS
    assert changes.everywhere == 0
    assert changes.touching(Group.TAINTS | Group.IMAGES) == [3]
    assert changes.touching(Group.PODS) == [5]


def test_an_epoch_has_no_row_and_counts_everywhere() -> None:
    log = ChangeLog()
    log.record(EVERYWHERE, Group.NAMESPACES)
    log.record(1, Group.LABELS)
    changes = log.since(0)
    assert changes is not None
    assert changes.rows == {1: Group.LABELS}
    assert changes.everywhere == Group.NAMESPACES
    assert changes.groups == Group.NAMESPACES | Group.LABELS


def test_readers_start_at_different_places() -> None:
    log = ChangeLog()
    log.record(1, Group.LABELS)
    middle = log.seq
    log.record(2, Group.PORTS)
    early, late, none = log.since(0), log.since(middle), log.since(log.seq)
    assert early is not None
    assert late is not None
    assert none is not None
    assert early.rows == {1: Group.LABELS, 2: Group.PORTS}
    assert late.rows == {2: Group.PORTS}
    assert (none.rows, none.groups) == ({}, 0)


def test_an_answer_is_shared_until_the_next_change() -> None:
    log = ChangeLog()
    log.record(1, Group.LABELS)
    first = log.since(0)
    assert log.since(0) is first
    log.record(2, Group.LABELS)
    second = log.since(0)
    assert second is not None
    assert first is not None
    assert first.rows.keys() == {1}
    assert second.rows.keys() == {1, 2}


def test_a_reader_that_fell_off_the_end_is_told_so() -> None:
    log = ChangeLog()
    for number in range(2 * CAPACITY + 1):
        log.record(number % 7, Group.PODS)
    assert log.seq == 2 * CAPACITY + 1
    assert log.since(0) is None
    assert log.since(CAPACITY - 1) is None
    oldest = log.since(CAPACITY)
    assert oldest is not None
    assert oldest.rows.keys() == set(range(7))
    newest = log.since(log.seq - 1)
    assert newest is not None
    assert newest.rows == {(2 * CAPACITY) % 7: Group.PODS}
