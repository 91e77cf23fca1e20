"""The page about the API surface says what the code does."""

from pathlib import Path

import pytest

from kubesched_controlplane.compatibility import page
from kubesched_controlplane.compatibility.texts import (
    BEHAVIOURS,
    KINDS_LEFT_OUT,
    REFUSED,
    SPOKEN,
    SUBRESOURCES_LEFT_OUT,
)
from kubesched_controlplane.server.catalog import DECLARATIONS, RESOURCES
from kubesched_controlplane.server.subresources.connect import CONNECT_HANDLERS

PAGE = Path(__file__).parents[3] / "docs" / "reference/api-compatibility.md"
SERVED = {(each.api_version, each.kind) for each in RESOURCES}
SENTENCES = {(each.resource.api_version, each.resource.kind): each.sentence for each in DECLARATIONS}
SUBRESOURCES = {f"{each.plural}/{name}" for each in RESOURCES for name in each.subresources}


def test_the_page_is_what_the_code_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make docs"


def test_every_kind_is_declared_once_with_its_sentence() -> None:
    assert len(SENTENCES) == len(DECLARATIONS)
    assert all(SENTENCES.values())


def test_what_is_left_out_is_not_served() -> None:
    assert not {tuple(name.split(" ")) for name in KINDS_LEFT_OUT} & SERVED
    assert not SUBRESOURCES_LEFT_OUT.keys() & SUBRESOURCES


def test_what_is_refused_is_served() -> None:
    assert {f"{store}/{subresource}" for store, subresource in CONNECT_HANDLERS} == REFUSED.keys()
    assert REFUSED.keys() <= SUBRESOURCES


@pytest.mark.parametrize(
    "texts",
    [SENTENCES, REFUSED, SPOKEN, KINDS_LEFT_OUT, SUBRESOURCES_LEFT_OUT, BEHAVIOURS],
    ids=lambda texts: len(texts),
)
def test_no_sentence_breaks_its_table(texts: dict[object, str]) -> None:
    assert not [text for text in texts.values() if "|" in text or "\n" in text or not text]
