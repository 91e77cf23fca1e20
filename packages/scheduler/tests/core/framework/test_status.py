"""Statuses, and the table that turns them into small integers."""

import pytest

from kubesched.core.framework.values.status import (
    SKIP,
    SUCCESS,
    Code,
    Status,
    StatusTable,
    error,
    unresolvable,
    unschedulable,
)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (Code.SUCCESS, "Success"),
        (Code.ERROR, "Error"),
        (Code.UNSCHEDULABLE, "Unschedulable"),
        (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "UnschedulableAndUnresolvable"),
        (Code.WAIT, "Wait"),
        (Code.SKIP, "Skip"),
        (Code.PENDING, "Pending"),
    ],
)
def test_codes_have_the_names_of_the_reference(code: Code, text: str) -> None:
    assert code.text == text


@pytest.mark.parametrize(
    ("status", "ok", "rejected"),
    [
        (SUCCESS, True, False),
        (SKIP, False, False),
        (unschedulable("full"), False, True),
        (unresolvable("wrong zone"), False, True),
        (Status(Code.PENDING), False, True),
        (error("boom"), False, False),
        (Status(Code.WAIT), False, False),
    ],
    ids=lambda value: str(value),
)
def test_a_rejection_is_neither_success_nor_failure(status: Status, ok: bool, rejected: bool) -> None:
    assert (status.ok, status.rejected) == (ok, rejected)


def test_reasons_are_joined_into_a_message() -> None:
    assert unschedulable("Insufficient cpu", "Too many pods").message == "Insufficient cpu, Too many pods"
    assert SUCCESS.message == ""


def test_a_status_gets_its_plugins_name_once() -> None:
    named = unschedulable("full").by("A")
    assert (named.code, named.reasons, named.plugin) == (Code.UNSCHEDULABLE, ("full",), "A")
    assert named.by("A") is named
    assert named.by("B").plugin == "B"


def test_the_table_gives_equal_statuses_one_number() -> None:
    table = StatusTable()
    assert table.intern(None, "A") == 0
    assert table.intern(SUCCESS, "A") == 0
    first = table.intern(unschedulable("full"), "A")
    assert first == 1
    assert table.intern(unschedulable("full"), "A") == first
    assert table.intern(unschedulable("full"), "B") == 2
    assert table.intern_all([None, unschedulable("full"), unresolvable("full")], "A") == [0, first, 3]
    assert table[first] == Status(Code.UNSCHEDULABLE, ("full",), "A")
    assert table[0].ok
    assert len(table) == 4
