"""Extenders are probed with a question about no nodes."""

import asyncio
from typing import Any

import pytest
from tests.support.extender_service import Service

from kubesched.config.golang import Duration
from kubesched.config.types import Extender
from kubesched.doctor.extender_checks import check_extenders
from kubesched.doctor.findings import FAIL, OK, WARN, Finding


def probed(reply: Any, **fields: Any) -> tuple[list[Finding], list[tuple[str, dict[str, Any]]]]:
    """Return the findings about an extender, and what it was asked; without a reply it is away."""

    async def story() -> list[Finding]:
        service = Service({"filter": lambda body: reply, "score": lambda body: reply})
        await service.open()
        if reply is None:
            await service.close()
        asked.append(service)
        extender = Extender(
            url_prefix=f"http://127.0.0.1:{service.port}/", http_timeout=Duration(5_000_000_000), **fields
        )
        try:
            return await check_extenders([extender])
        finally:
            await service.close()

    asked: list[Service] = []
    insecure, *others = asyncio.run(story())
    assert (insecure.level, "without TLS" in insecure.what) == (WARN, True)
    return others, asked[0].asked


@pytest.mark.parametrize(
    ("reply", "fields", "level", "what"),
    [
        ({"NodeNames": []}, {"filter_verb": "filter"}, OK, "answered in"),
        ([], {"prioritize_verb": "score"}, OK, "answered in"),
        ({"Error": "no licence"}, {"filter_verb": "filter"}, FAIL, "no licence"),
        (None, {"filter_verb": "filter"}, FAIL, "127.0.0.1"),
        (None, {"filter_verb": "filter", "ignorable": True}, WARN, "127.0.0.1"),
        ({}, {"bind_verb": "bind"}, OK, "which is not tried"),
    ],
)
def test_what_an_extender_says(reply: Any, fields: dict[str, Any], level: str, what: str) -> None:
    (finding,), asked = probed(reply, **fields)
    assert (finding.level, what in finding.what) == (level, True), finding
    for _, body in asked:
        assert body["Pod"]["metadata"]["name"] == "kubesched-doctor-probe"
        assert not body["NodeNames"]
        assert not body["Nodes"]["items"]
