"""Names that are imported when they are first used."""

import sys

import pytest

import kubesched.common
from kubesched.common.lazy_names import lazy_names


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a package that has none of the names yet; what the test sets is undone."""
    monkeypatch.setattr(kubesched.common, "VirtualTime", None, raising=False)
    return kubesched.common.__name__


def test_a_name_is_found_in_its_module_and_then_in_the_package(package: str) -> None:
    get = lazy_names(package, {"virtual_time": "VirtualTime run_in_virtual_time"})
    found = get("VirtualTime")
    assert found is sys.modules["kubesched.common.virtual_time"].VirtualTime
    assert vars(kubesched.common)["VirtualTime"] is found


def test_an_unknown_name_is_the_usual_error(package: str) -> None:
    with pytest.raises(AttributeError, match=r"module 'kubesched\.common' has no attribute 'nothing'"):
        lazy_names(package, {"virtual_time": "VirtualTime"})("nothing")
