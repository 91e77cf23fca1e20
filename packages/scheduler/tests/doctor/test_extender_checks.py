"""Extenders are probed with a question about no nodes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from packages.scheduler.tests.client.conftest import Authority
from tests.support.extender_service import Service

from kubesched.config.golang import Duration
from kubesched.config.types import Extender, ExtenderTLSConfig
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
        ({}, {"bind_verb": "bind"}, OK, "which is not tested"),
    ],
)
def test_what_an_extender_says(reply: Any, fields: dict[str, Any], level: str, what: str) -> None:
    (finding,), asked = probed(reply, **fields)
    assert (finding.level, what in finding.what) == (level, True), finding
    for _, body in asked:
        assert body["Pod"]["metadata"]["name"] == "kubesched-doctor-probe"
        assert not body["NodeNames"]
        assert not body["Nodes"]["items"]


@pytest.mark.parametrize(("trusted", "name"), [(False, "server.test"), (True, "other.test")])
def test_a_certificate_that_does_not_verify_is_a_matter_of_tls_config(trusted: bool, name: str, tmp_path: Path) -> None:
    authority = Authority()
    known = authority if trusted else Authority()
    settings = ExtenderTLSConfig(ca_data=known.certificate, server_name=name)

    async def story() -> list[Finding]:
        server = await asyncio.start_server(
            lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=authority.serving(tmp_path, "127.0.0.2")
        )
        address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        extender = Extender(
            url_prefix=address, filter_verb="f", tls_config=settings, http_timeout=Duration(5_000_000_000)
        )
        async with server:
            return await check_extenders([extender])

    (finding,) = asyncio.run(story())
    assert (finding.level, "certificate verify failed" in finding.what) == (FAIL, True), finding
    assert finding.fix.startswith("fix its tlsConfig: caFile or caData"), finding


def test_the_fix_is_about_what_is_wrong() -> None:
    (away,), _ = probed(None, filter_verb="filter")
    (unhappy,), _ = probed({"Error": "no licence"}, filter_verb="filter")
    (elsewhere,), _ = probed({}, filter_verb="another")
    assert "this machine reaches it" in away.fix
    assert "check its log" in unhappy.fix
    assert "it serves urlPrefix and the verbs" in elsewhere.fix
