"""Structs of shapes, made by several threads at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from kubesched_controlplane.schema.notation import Library
from kubesched_controlplane.schema.structs import read_scalar, struct_of

DEADLINE_SECONDS = 60.0


def test_two_threads_may_make_the_struct_of_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    (shape,) = Library((("v1", "Tree: name=1, children=2 []Tree\n"),)).shapes()
    both, defstruct = threading.Barrier(2, timeout=DEADLINE_SECONDS), msgspec.defstruct

    def defstruct_when_both_do(name: str, *arguments: Any, **options: Any) -> Any:
        both.wait()
        return defstruct(name, *arguments, **options)

    monkeypatch.setattr(msgspec, "defstruct", defstruct_when_both_do)
    with ThreadPoolExecutor(2) as executor:
        made = [executor.submit(struct_of, shape) for _ in range(2)]
        structs = [each.result(DEADLINE_SECONDS) for each in made]
    document = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}
    for struct in structs:
        decoded = msgspec.convert(document, struct, dec_hook=read_scalar)
        assert msgspec.to_builtins(decoded) == document
