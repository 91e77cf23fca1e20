"""Extras: a missing library is told in one sentence."""

import json

import pytest

from kubesched.common.extras import extra_module
from kubesched.errors import KubeschedError


def test_a_module_that_is_there_is_returned() -> None:
    assert extra_module("json", "none", "nothing") is json


def test_a_missing_one_is_one_sentence() -> None:
    with pytest.raises(KubeschedError, match=r"^a picture needs pip install 'kubesched\[plots\]'$"):
        extra_module("kubesched.no_such_module", "plots", "a picture")
