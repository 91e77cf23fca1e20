"""What PreFilter's outcomes add up to."""

from types import SimpleNamespace
from typing import Any

from kubesched.core.evaluation.pre_filtering import pre_filter
from kubesched.core.framework.values.status import Status, error, unresolvable, unschedulable


def question(
    name: str, *, rejection: Status | None = None, nodes: frozenset[str] | None = None, skip: bool = False
) -> Any:
    return SimpleNamespace(plugin=SimpleNamespace(name=name), rejection=rejection, node_names=nodes, skip=skip)


def test_the_plugins_narrow_together() -> None:
    outcome = pre_filter([question("A", nodes=frozenset("xy")), question("B"), question("C", nodes=frozenset("yz"))])
    assert (outcome.rejection, outcome.node_names, outcome.narrowing) == (None, frozenset("y"), ("A", "C"))
    assert outcome.asked == ("A", "B", "C")


def test_no_node_that_is_left_is_a_rejection_by_all_who_narrowed() -> None:
    outcome = pre_filter([question("B", nodes=frozenset("x")), question("A", nodes=frozenset("y")), question("C")])
    assert outcome.rejection == unresolvable("node(s) didn't satisfy plugin(s) [A B] simultaneously")
    assert outcome.asked == ("B", "A")
    assert pre_filter([question("A", nodes=frozenset())]).rejection == unresolvable("node(s) didn't satisfy plugin A")


def test_a_rejection_that_preemption_might_lift_lets_the_others_be_asked() -> None:
    first, last = unschedulable("first").by("A"), unschedulable("last").by("B")
    outcome = pre_filter([question("A", rejection=first), question("B", rejection=last), question("C")])
    assert (outcome.rejection, outcome.asked) == (last, ("A", "B", "C"))


def test_an_unresolvable_rejection_and_an_error_end_it() -> None:
    final = unresolvable("never").by("A")
    assert pre_filter([question("A", rejection=final), question("B")]).asked == ("A",)
    failed = pre_filter([question("A", rejection=error("boom")), question("B")]).rejection
    assert failed == error('running PreFilter plugin "A": boom').by("A")


def test_who_is_skipped_has_no_say() -> None:
    outcome = pre_filter([question("A", nodes=frozenset(), skip=True), question("B")])
    assert (outcome.rejection, outcome.node_names, outcome.asked) == (None, None, ("A", "B"))
