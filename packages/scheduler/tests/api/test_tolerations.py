"""Tolerations of node and device taints."""

import pytest

from kubesched.api.devices import DeviceTaint, DeviceToleration
from kubesched.api.pods import Taint, Toleration
from kubesched.api.tolerations import first_untolerated, forbids_scheduling, tolerates, tolerates_device

TAINT = Taint(key="k", value="5", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param(Toleration(key="k", value="5"), True, id="no operator means Equal"),
        pytest.param(Toleration(key="k", operator="Equal", value="6"), False, id="another value"),
        pytest.param(Toleration(key="k", operator="Exists", value="6"), True, id="Exists does not look at the value"),
        pytest.param(Toleration(operator="Exists"), True, id="no key means every key"),
        pytest.param(Toleration(value="5"), True, id="even with Equal"),
        pytest.param(Toleration(key="j", operator="Exists"), False, id="another key"),
        pytest.param(Toleration(key="k", operator="Exists", effect="NoExecute"), False, id="another effect"),
        pytest.param(Toleration(key="k", operator="Bogus", value="5"), False, id="an unknown operator"),
        pytest.param(Toleration(key="k", operator="Lt", value="6"), False, id="Lt without its gate"),
    ],
)
def test_pod_tolerations(toleration: Toleration, expected: bool) -> None:
    assert tolerates(toleration, TAINT) is expected


@pytest.mark.parametrize(
    ("operator", "value", "taint_value", "expected"),
    [
        pytest.param("Lt", "6", "5", True, id="the taint's number is lower"),
        pytest.param("Lt", "5", "5", False, id="equal is not lower"),
        pytest.param("Gt", "-6", "-5", True, id="negative numbers"),
        pytest.param("Gt", "05", "6", False, id="a leading zero is no number"),
        pytest.param("Gt", "+5", "6", False, id="nor is a plus"),
        pytest.param("Gt", "5", "-0", False, id="nor is minus zero"),
        pytest.param("Gt", "0", "9223372036854775808", False, id="nor is what leaves 64 bits"),
        pytest.param("Lt", "", "5", False, id="nor is nothing"),
    ],
)
def test_comparison_operators_behind_their_gate(operator: str, value: str, taint_value: str, expected: bool) -> None:
    toleration = Toleration(key="k", operator=operator, value=value)
    taint = Taint(key="k", value=taint_value, effect="NoExecute")
    assert tolerates(toleration, taint, comparison=True) is expected
    assert not tolerates(toleration, taint)
    assert not tolerates(toleration, Taint(key="j", value=taint_value), comparison=True)


def test_devices_know_no_comparison() -> None:
    taint = DeviceTaint(key="k", value="5", effect="NoSchedule")
    assert tolerates_device(DeviceToleration(key="k", value="5"), taint)
    assert tolerates_device(DeviceToleration(operator="Exists", effect="NoSchedule"), taint)
    assert not tolerates_device(DeviceToleration(key="k", operator="Lt", value="6"), taint)


def test_the_first_taint_of_concern_that_is_not_tolerated() -> None:
    soft = Taint(key="soft", effect="PreferNoSchedule")
    hard = Taint(key="hard", effect="NoExecute")
    tolerations = (Toleration(key="k", operator="Exists"),)
    assert first_untolerated((TAINT, soft, hard), tolerations) == soft
    assert first_untolerated((TAINT, soft, hard), tolerations, forbids_scheduling) == hard
    assert first_untolerated((TAINT, soft), tolerations, forbids_scheduling) is None
