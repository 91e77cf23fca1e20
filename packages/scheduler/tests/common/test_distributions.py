"""Parts of kubesched that may not be installed."""

from collections.abc import Iterator

import pytest

from kubesched.common import distributions
from kubesched.common.distributions import MissingDistributionError, imported, is_installed
from kubesched.common.lazy_names import lazy_names


@pytest.fixture(autouse=True)
def absent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let there be a distribution whose package is not there."""
    monkeypatch.setattr(distributions, "DISTRIBUTIONS", {"kubesched_absent": "kubesched-absent"})
    is_installed.cache_clear()
    yield
    is_installed.cache_clear()


def test_an_attribute_is_imported() -> None:
    assert imported("kubesched.common.distributions", "imported", "a test") is imported


def test_a_distribution_that_is_missing_is_named() -> None:
    assert not is_installed("kubesched_absent.command:command")
    with pytest.raises(MissingDistributionError, match=r"^kubesched page needs pip install kubesched-absent$"):
        imported("kubesched_absent.command", "command", "kubesched page")


def test_a_name_of_a_distribution_that_is_missing_cannot_be_imported() -> None:
    get = lazy_names("kubesched.common", {}, {"kubesched_absent.cluster": "Cluster"})
    with pytest.raises(ImportError, match=r"^kubesched\.common\.Cluster needs pip install kubesched-absent$"):
        get("Cluster")
