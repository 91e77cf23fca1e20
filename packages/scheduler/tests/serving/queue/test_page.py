"""/debug/queue over TLS: for those who may get the path."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
from tests.support.serving import Facts, FakeApi, served

from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.routes import Pages
from kubesched.serving.queue.records import PATH, VERSION, QueuePage


class Queueing(Facts):
    """A scheduler with three pods."""

    def pages(self) -> Pages:
        page = QueuePage(version=VERSION, now=datetime(2026, 1, 1, tzinfo=UTC), counts={"active": 3})
        return msgspec.structs.replace(super().pages(), queue=lambda: page)


def test_it_is_for_those_whom_the_api_server_lets_get_the_path() -> None:
    api = FakeApi()
    api.tokens = {"of-anna": {"username": "anna"}, "of-ben": {"username": "ben"}}
    api.allowed = {("anna", PATH)}
    with served(ServingOptions(), api, Queueing()) as scheduler:
        found = scheduler.fetch(PATH, {"Authorization": "Bearer of-anna"})
        assert json.loads(found.body)["counts"] == {"active": 3}
        assert scheduler.fetch(PATH, {"Authorization": "Bearer of-ben"}).code == 403


@pytest.mark.parametrize("queue", [True, False])
def test_without_a_queue_there_is_no_page(queue: bool) -> None:
    api = FakeApi()
    api.tokens = {"of-anna": {"username": "anna"}}
    api.allowed = {("anna", PATH)}
    with served(ServingOptions(), api, Queueing() if queue else Facts()) as scheduler:
        assert scheduler.fetch(PATH, {"Authorization": "Bearer of-anna"}).code == (200 if queue else 404)
