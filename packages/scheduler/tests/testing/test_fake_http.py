"""Answers for look-ups over HTTP in tests of plugins."""

import asyncio
from typing import Any

import pytest

from kubesched import HttpAnswer, HttpError
from kubesched.testing import FakeHttp

URL = "https://example.com/load"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"load": 3}, {"load": 3}),
        ('{"load": 3}', {"load": 3}),
        (b"[1]", [1]),
        (HttpAnswer(200, b"7"), 7),
    ],
    ids=["a document", "a text", "bytes", "an answer"],
)
def test_an_answer_is_what_the_test_gave(answer: Any, found: Any) -> None:
    http = FakeHttp({URL: answer})
    assert asyncio.run(http.get(URL)).json() == found
    assert http.asked == [URL]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, "the test has no response for it"),
        ({URL: HttpError("no route")}, "no route"),
        ({URL: HttpAnswer(503, b"")}, "status 503"),
        ({URL: "not JSON"}, "the answer is not JSON"),
    ],
    ids=["no answer", "an exception is raised", "a status that is an error", "no JSON"],
)
def test_what_goes_wrong_is_what_goes_wrong_on_a_cluster(answers: dict[str, Any], message: str) -> None:
    with pytest.raises(HttpError, match=message):
        asyncio.run(FakeHttp(answers).get(URL)).json()


def test_paths_of_the_api_server_are_answered_as_well_by_a_function() -> None:
    http = FakeHttp(lambda asked: {"items": [asked]})
    assert asyncio.run(http.get_from_api_server("/apis/metrics.k8s.io/v1beta1/nodes")) == {
        "items": ["/apis/metrics.k8s.io/v1beta1/nodes"]
    }
