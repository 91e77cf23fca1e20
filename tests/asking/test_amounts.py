"""Amounts of resources as texts: exact, and rounded for people."""

import pytest

from kubesched.asking.amounts import quantity, rounded

AMOUNTS = {
    "whole CPUs": ("cpu", 2000, "2", "2"),
    "parts of a CPU": ("cpu", 1500, "1500m", "1500m"),
    "whole units of bytes": ("memory", 8 << 30, "8Gi", "8Gi"),
    "odd bytes are exact or rounded": ("memory", (3 << 30) + 1, "3221225473", "3Gi"),
    "parts of a unit": ("ephemeral-storage", 1536 << 20, "1536Mi", "1.5Gi"),
    "few bytes": ("hugepages-2Mi", 12, "12", "12"),
    "less than nothing": ("memory", -(2 << 30), "-2Gi", "-2Gi"),
    "numbers of devices": ("example.com/gpu", 4, "4", "4"),
}


@pytest.mark.parametrize(("resource", "amount", "exact", "short"), AMOUNTS.values(), ids=AMOUNTS)
def test_amounts(resource: str, amount: int, exact: str, short: str) -> None:
    assert (quantity(resource, amount), rounded(resource, amount)) == (exact, short)
