"""Changes come in the order of their resource versions, whatever watch reports them first."""

from msgspec.structs import replace

from kubesched.api.meta import ApiObject
from kubesched.shadow.changes import ChangeStream
from kubesched.testing import a_node, a_pod


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def versioned(obj: ApiObject, version: str) -> ApiObject:
    return replace(obj, metadata=replace(obj.metadata, resource_version=version))


def told(stream: ChangeStream, *, all_of_them: bool = False) -> list[tuple[str, bool]]:
    return [(change.name.name, change.obj is not None) for change in stream.due(all_of_them=all_of_them)]


def test_a_change_waits_for_earlier_ones_of_other_kinds() -> None:
    clock = Clock()
    stream = ChangeStream(clock, 1.0)
    stream.put(versioned(a_pod("p"), "12"))
    clock.now = 0.5
    stream.put(versioned(a_node("n"), "11"))
    assert [change.name.name for change in stream.ahead()] == ["n", "p"]
    assert told(stream) == []
    clock.now = 1.6
    assert told(stream) == [("n", True), ("p", True)]
    # one that is too late comes nevertheless
    stream.put(versioned(a_node("late"), "5"))
    assert told(stream, all_of_them=True) == [("late", True)]


def test_a_deletion_has_the_version_that_is_reached_with_it() -> None:
    stream = ChangeStream(Clock(), 1.0)
    stream.drop(versioned(a_pod("p"), "3"))
    assert told(stream, all_of_them=True) == []
    stream.reached("Pod", "20")
    stream.put(versioned(a_node("n"), "19"))
    assert told(stream, all_of_them=True) == [("n", True), ("p", False)]


def test_a_pod_that_comes_again_was_deleted_before() -> None:
    stream = ChangeStream(Clock(), 1.0)
    stream.drop(versioned(a_pod("p", uid="old"), "3"))
    stream.put(versioned(a_pod("p", uid="new"), "20"))
    assert told(stream, all_of_them=True) == [("p", False), ("p", True)]


def test_a_finished_pod_is_gone() -> None:
    stream = ChangeStream(Clock(), 1.0)
    stream.put(versioned(a_pod("p", phase="Succeeded"), "3"))
    assert told(stream, all_of_them=True) == [("p", False)]


def test_versions_that_are_no_numbers_leave_the_order_of_reports() -> None:
    stream = ChangeStream(Clock(), 1.0)
    for name in "ba":
        stream.put(versioned(a_pod(name), "opaque"))
    assert told(stream, all_of_them=True) == [("b", True), ("a", True)]


def test_a_version_of_thousands_of_digits_is_none() -> None:
    stream = ChangeStream(Clock(), 1.0)
    for name in "ba":
        stream.put(versioned(a_pod(name), "9" * 5000))
    assert told(stream, all_of_them=True) == [("b", True), ("a", True)]
