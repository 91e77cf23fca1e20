"""Go's layouts of times."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched_contrib.go_time_layouts import time_reader

RFC3339 = "2006-01-02T15:04:05Z07:00"


def at(*parts: Any, hours: float = 0) -> float:
    moment: datetime = datetime(*parts)
    return moment.replace(tzinfo=timezone(timedelta(hours=hours))).timestamp()


@pytest.mark.parametrize(
    ("layout", "text", "moment"),
    [
        (RFC3339, "2026-03-04T05:06:07Z", at(2026, 3, 4, 5, 6, 7)),
        (RFC3339, "2026-03-04T05:06:07+02:30", at(2026, 3, 4, 5, 6, 7, hours=2.5)),
        (RFC3339, "2026-03-04T05:06:07.5Z", at(2026, 3, 4, 5, 6, 7) + 0.5),
        ("2006-01-02T15:04:05.000Z0700", "2026-03-04T05:06:07.250-0700", at(2026, 3, 4, 5, 6, 7, hours=-7) + 0.25),
        ("2006-01-02", "2026-03-04", at(2026, 3, 4)),
        ("20060102", "20260304", at(2026, 3, 4)),
        ("2006-01-02 15:04:05", "2026-03-04 05:06:07", at(2026, 3, 4, 5, 6, 7)),
        ("Mon, 02 Jan 2006 15:04:05 MST", "Wed, 04 Mar 2026 05:06:07 GMT", at(2026, 3, 4, 5, 6, 7)),
        ("January _2, 2006 at 3:04pm", "March  4, 2026 at 5:06pm", at(2026, 3, 4, 17, 6)),
        ("02/01/06 03PM", "04/03/26 12AM", at(2026, 3, 4)),
        ("1/2/06", "3/4/99", at(1999, 3, 4)),
    ],
)
def test_texts_are_read_by_the_reference_time(layout: str, text: str, moment: float) -> None:
    assert time_reader(layout)(text) == moment


@pytest.mark.parametrize(
    "text", ["", "now", "2026-03-04", "2026-13-04T05:06:07Z", "2026-02-30T05:06:07Z", "2026-03-04T05:06:07"]
)
def test_a_text_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        time_reader(RFC3339)(text)


@pytest.mark.parametrize(
    ("layout", "why"),
    [("", "no year"), ("15:04", "no year"), ("yyyy-mm-dd", "no year"), ("2006-2006", "twice")],
)
def test_a_layout_that_tells_no_time_is_refused(layout: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        time_reader(layout)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_every_moment_is_read_back(moment: Any) -> None:
    whole = moment.replace(microsecond=0)
    assert time_reader(RFC3339)(whole.strftime("%Y-%m-%dT%H:%M:%SZ")) == whole.timestamp()
