"""The change log: what happened since, and how far back it reaches."""

from kubesched.core.cluster.changes import CAPACITY, EVERYWHERE, ChangeLog, Reads


def test_changes_of_a_row_are_united() -> None:
    log = ChangeLog()
    start = log.seq
    log.record(3, Reads.LABELS)
    log.record(5, Reads.RESOURCES | Reads.PODS)
    log.record(3, Reads.TAINTS)
    changes = log.since(start)
    assert changes is not None
    assert changes.rows == {3: Reads.LABELS | Reads.TAINTS, 5: Reads.RESOURCES | Reads.PODS}
    assert changes.groups == Reads.LABELS | Reads.TAINTS | Reads.RESOURCES | Reads.PODS
    assert changes.everywhere == 0
    assert changes.touching(Reads.TAINTS | Reads.IMAGES) == [3]
    assert changes.touching(Reads.PODS) == [5]


def test_an_epoch_has_no_row_and_counts_everywhere() -> None:
    log = ChangeLog()
    log.record(EVERYWHERE, Reads.NAMESPACES)
    log.record(1, Reads.LABELS)
    changes = log.since(0)
    assert changes is not None
    assert changes.rows == {1: Reads.LABELS}
    assert changes.everywhere == Reads.NAMESPACES
    assert changes.groups == Reads.NAMESPACES | Reads.LABELS


def test_readers_start_at_different_places() -> None:
    log = ChangeLog()
    log.record(1, Reads.LABELS)
    middle = log.seq
    log.record(2, Reads.PORTS)
    early, late, none = log.since(0), log.since(middle), log.since(log.seq)
    assert early is not None
    assert late is not None
    assert none is not None
    assert early.rows == {1: Reads.LABELS, 2: Reads.PORTS}
    assert late.rows == {2: Reads.PORTS}
    assert (none.rows, none.groups) == ({}, 0)


def test_an_answer_is_shared_until_the_next_change() -> None:
    log = ChangeLog()
    log.record(1, Reads.LABELS)
    first = log.since(0)
    assert log.since(0) is first
    log.record(2, Reads.LABELS)
    second = log.since(0)
    assert second is not None
    assert first is not None
    assert first.rows.keys() == {1}
    assert second.rows.keys() == {1, 2}


def test_a_reader_that_fell_off_the_end_is_told_so() -> None:
    log = ChangeLog()
    for number in range(2 * CAPACITY + 1):
        log.record(number % 7, Reads.PODS)
    assert log.seq == 2 * CAPACITY + 1
    assert log.since(0) is None
    assert log.since(CAPACITY - 1) is None
    oldest = log.since(CAPACITY)
    assert oldest is not None
    assert oldest.rows.keys() == set(range(7))
    newest = log.since(log.seq - 1)
    assert newest is not None
    assert newest.rows == {(2 * CAPACITY) % 7: Reads.PODS}
