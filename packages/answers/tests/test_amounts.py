"""Amounts of resources as texts: exact for programs, and in one unit for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched_answers.amounts import (
    amount_of,
    amount_text,
    amount_texts,
    quantity,
    quantity_text,
    requests_text,
    rounded_down,
    rounded_up,
    use_text,
)

GI, MI = 1 << 30, 1 << 20
AMOUNTS = {
    "whole CPUs": ("cpu", 2000, "2", "2"),
    "parts of a CPU are parts of a core": ("cpu", 1500, "1500m", "1.5"),
    "thousandths of a core are not rounded": ("cpu", 3245, "3245m", "3.245"),
    "many cores have commas": ("cpu", 1288560, "1288560m", "1,288.56"),
    "whole units of bytes": ("memory", 8 * GI, "8Gi", "8Gi"),
    "odd bytes are exact or rounded": ("memory", 3 * GI + 1, "3221225473", "3Gi"),
    "parts of a unit": ("ephemeral-storage", 1536 * MI, "1536Mi", "1.5Gi"),
    "some TiB are shown in GiB, as nodes are": ("memory", 1288 * GI, "1288Gi", "1,288Gi"),
    "many TiB": ("memory", 20 * 1024 * GI, "20Ti", "20Ti"),
    "few bytes": ("hugepages-2Mi", 12, "12", "12"),
    "less than nothing": ("memory", -2 * GI, "-2Gi", "-2Gi"),
    "nothing": ("memory", 0, "0", "0"),
    "numbers of devices": ("example.com/gpu", 4, "4", "4"),
}


@pytest.mark.parametrize(("resource", "amount", "exact", "text"), AMOUNTS.values(), ids=AMOUNTS)
def test_an_amount_for_programs_and_for_people(resource: str, amount: int, exact: str, text: str) -> None:
    assert (quantity(resource, amount), amount_text(resource, amount)) == (exact, text)
    assert quantity_text(resource, exact) == text


BESIDE = {
    "cores": ("cpu", (3240, 15890), ("3.24", "15.89")),
    "one unit": ("memory", (int(41.4 * GI), 61 * GI), ("41.4Gi", "61Gi")),
    "little of much has the unit of much": ("memory", (100 * MI, 64 * GI), ("0.1Gi", "64Gi")),
    "what is not nothing is not shown as nothing": ("memory", (10 * MI, 64 * GI), ("0.01Gi", "64Gi")),
    "nothing has no unit": ("memory", (0, 64 * GI), ("0", "64Gi")),
    "nearly equal amounts look different": ("memory", (64 * GI - 40 * MI, 64 * GI), ("63.96Gi", "64Gi")),
    "a byte makes both exact": ("memory", (64 * GI - 1, 64 * GI), ("68719476735", "64Gi")),
}


@pytest.mark.parametrize(("resource", "amounts", "texts"), BESIDE.values(), ids=BESIDE)
def test_amounts_beside_each_other(resource: str, amounts: tuple[int, ...], texts: tuple[str, ...]) -> None:
    assert amount_texts(resource, *amounts) == texts


def test_sentences_about_amounts() -> None:
    assert use_text("cpu", 847500, 1288560) == "847.5 of 1,288.56"
    assert requests_text({"cpu": "3240m", "memory": "43520Mi", "nvidia.com/gpu": "2"}) == (
        "3.24 cpu, 42.5Gi memory, 2 nvidia.com/gpu"
    )
    assert requests_text({}) == "nothing"


@given(
    st.sampled_from(["cpu", "memory", "hugepages-2Mi", "example.com/gpu"]),
    st.lists(st.integers(-(1 << 50), 1 << 50), min_size=1, max_size=4),
)
def test_different_amounts_have_different_texts(resource: str, amounts: list[int]) -> None:
    texts = amount_texts(resource, *amounts)
    assert len(set(texts)) == len(set(amounts))
    assert [text.startswith("-") for text in texts] == [amount < 0 for amount in amounts]


@given(st.sampled_from(["cpu", "memory", "example.com/gpu"]), st.integers(0, 1 << 50))
def test_a_quantity_is_read_as_it_was_written(resource: str, amount: int) -> None:
    assert amount_of(resource, quantity(resource, amount)) == amount


ROUNDED = {
    "cores are exact": ("cpu", 3245, "3.245", "3.245"),
    "whole units": ("memory", 2 * GI, "2Gi", "2Gi"),
    "a little more than a unit": ("memory", 2 * GI + 1, "2Gi", "2.001Gi"),
    "some MiB": ("memory", 43571 * MI, "42.549Gi", "42.55Gi"),
    "bytes": ("memory", 1000, "1,000", "1,000"),
    "devices": ("example.com/gpu", 3, "3", "3"),
}


@pytest.mark.parametrize(("resource", "amount", "down", "up"), ROUNDED.values(), ids=ROUNDED)
def test_amounts_that_have_to_suffice_are_rounded_to_their_side(resource: str, amount: int, down: str, up: str) -> None:
    assert (rounded_down(resource, amount), rounded_up(resource, amount)) == (down, up)
