"""Custom objects: what is read of their documents."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kubesched.api.custom import custom_object

FIRST, LAST = "2026-01-01T00:00:00Z", "2026-01-01T00:00:07Z"


@pytest.mark.parametrize(
    ("managed_fields", "written"),
    [
        ([{"time": FIRST}, {"time": LAST, "subresource": "status"}], datetime(2026, 1, 1, 0, 0, 7, tzinfo=UTC)),
        ([{"manager": "kubectl"}], None),
        ([{"time": "now"}, {"time": "2026-01-01T00:00:00"}, "kubectl"], None),
        ({}, None),
        (None, None),
    ],
    ids=["the last of several", "an entry without a time", "no times", "no list", "none"],
)
def test_the_last_time_in_the_managed_fields_is_when_an_object_was_written(managed_fields: Any, written: Any) -> None:
    document = {"metadata": {"name": "n1", "managedFields": managed_fields}, "zones": []}
    assert custom_object("racks.v1.example.com", document).last_written == written
