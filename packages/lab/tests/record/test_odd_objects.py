"""Objects of which any part is something else are written all the same, with names or with codes in their place."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from tests.process.test_strange_objects import FOLLOWED, POD_SPECS, metadata, mutilated
from tests.support.api_client import Document
from tests.support.good_objects import GOOD

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject
from kubesched.errors import InvalidObjectError
from kubesched_lab.record.line_encoder import PLAIN, LineEncoder, anonymising_encoder

OWNERS = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}]


def odd_documents() -> Iterator[Document]:
    """Yield documents of all kinds, with one part of each replaced."""
    good = [(kind, version, rest) for kind, (version, rest) in GOOD.items() if kind in FOLLOWED]
    good += [("Pod", "v1", {"spec": spec}) for spec in POD_SPECS]
    for number, (kind, version, rest) in enumerate(good):
        meta = {**metadata(kind, number), "name": "web-0", "labels": {"a": "b"}, "ownerReferences": OWNERS}
        for document in mutilated({"metadata": meta, **rest}):
            yield {"apiVersion": version, "kind": kind, **document}


def odd_objects() -> Iterator[ApiObject]:
    """Yield those that can be read."""
    for document in odd_documents():
        with suppress(InvalidObjectError):
            yield decode(document)


@pytest.mark.parametrize("encoder", [PLAIN, anonymising_encoder(b"key")], ids=["plain", "anonymised"])
def test_any_part_of_any_object_may_be_something_else(encoder: LineEncoder) -> None:
    count = 0
    for obj in odd_objects():
        encoder.learn([obj])
        assert encoder.encode({"at": 0.0, "object": obj}).endswith(b"}\n")
        count += 1
    assert count > 1000
