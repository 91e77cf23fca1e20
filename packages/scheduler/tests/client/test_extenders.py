"""Extenders over a real HTTP server on loopback: good, slow, failing and lying ones, with and without TLS."""

import asyncio
import base64
import gzip
import json
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from packages.scheduler.tests.client.conftest import Authority

from kubesched.client.extenders import HttpExtenderClient, tls_context
from kubesched.config.golang import Duration
from kubesched.config.types import Extender, ExtenderTLSConfig
from kubesched.core.framework.values.effects import Bind
from kubesched.core.framework.values.extenders import (
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    ExtenderPrioritizeArgs,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.errors import KubeschedError
from kubesched.testing import a_node, a_pod

VERBS = {"filter_verb": "filter", "prioritize_verb": "prioritize", "preempt_verb": "preempt", "bind_verb": "bind"}
NODES = {name: a_node(name) for name in ("n1", "n2")}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Work = Callable[[HttpExtenderClient, Extender], Awaitable[Any]]


def served(handler: Handler, work: Work, context: ssl.SSLContext | None = None, **words: Any) -> Any:
    """Return what `work` returns with an extender that is served by `handler`."""

    async def play() -> Any:
        app = web.Application()
        app.router.add_post("/{verb}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        port = runner.addresses[0][1]
        scheme = "https" if context else "http"
        extender = Extender(
            url_prefix=f"{scheme}://127.0.0.1:{port}/",
            http_timeout=words.pop("http_timeout", Duration(nanoseconds=5_000_000_000)),
            **{**VERBS, **words},
        )
        carrier = HttpExtenderClient([extender], NODES.get)
        try:
            return await work(carrier, extender)
        finally:
            await carrier.close()
            await runner.cleanup()

    return asyncio.run(play())


def replying(answer: Any, status: int = 200, seen: list[Any] | None = None) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        if seen is not None:
            seen.append((request.match_info["verb"], await request.json()))
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return web.Response(text=text, status=status, content_type="application/json")

    return handler


def filtering(carrier: HttpExtenderClient, extender: Extender) -> Awaitable[ExtenderResult]:
    return carrier.ask(ExtenderFilterArgs(extender, a_pod("p"), ["n1", "n2"]))


def test_filter_sends_whole_nodes_under_the_names_of_the_reference() -> None:
    seen: list[Any] = []
    reply = {
        "Nodes": {"items": [{"metadata": {"name": "n2"}}]},
        "FailedNodes": {"n1": "too far"},
        "FailedAndUnresolvableNodes": {},
        "Error": "",
    }
    answer = served(replying(reply, seen=seen), filtering)
    assert answer == ExtenderFilterResult(["n2"], {"n1": "too far"}, {})
    ((verb, body),) = seen
    assert verb == "filter"
    assert body["Pod"]["metadata"]["name"] == "p"
    assert [node["metadata"]["name"] for node in body["Nodes"]["items"]] == ["n1", "n2"]
    assert body["NodeNames"] is None


def test_an_extender_that_caches_nodes_is_sent_names_only() -> None:
    seen: list[Any] = []
    answer = served(replying({"NodeNames": ["n1"]}, seen=seen), filtering, node_cache_capable=True)
    assert answer == ExtenderFilterResult(["n1"], {}, {})
    ((_, body),) = seen
    assert (body["Nodes"], body["NodeNames"]) == (None, ["n1", "n2"])


def test_prioritize_brings_scores_by_host() -> None:
    def work(carrier: HttpExtenderClient, extender: Extender) -> Awaitable[ExtenderResult]:
        return carrier.ask(ExtenderPrioritizeArgs(extender, a_pod("p"), ["n1"]))

    answer = served(replying([{"Host": "n1", "Score": 7}]), work)
    assert answer == ExtenderPrioritizeResult({"n1": 7})


@pytest.mark.parametrize("caches", [True, False])
def test_preempt_sends_victims_and_brings_back_uids(caches: bool) -> None:
    seen: list[Any] = []

    def work(carrier: HttpExtenderClient, extender: Extender) -> Awaitable[ExtenderResult]:
        return carrier.ask(ExtenderPreemptionArgs(extender, a_pod("p"), {"n1": [a_pod("v")]}, {"n1": 1}))

    reply = {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "default-v"}], "NumPDBViolations": 1}}}
    answer = served(replying(reply, seen=seen), work, node_cache_capable=caches)
    assert answer == ExtenderPreemptionResult({"n1": ["default-v"]}, {"n1": 1})
    ((_, body),) = seen
    sent = body["NodeNameToMetaVictims" if caches else "NodeNameToVictims"]["n1"]
    assert sent["NumPDBViolations"] == 1
    assert sent["Pods"][0].get("UID" if caches else "metadata")


@pytest.mark.parametrize(("reply", "refusal"), [({}, ""), ({"Error": "no"}, "no")])
def test_bind_names_pod_uid_and_node(reply: Any, refusal: str) -> None:
    seen: list[Any] = []

    def work(carrier: HttpExtenderClient, extender: Extender) -> Awaitable[str]:
        return carrier.bind(extender, Bind("default", "p", "uid-1", "n1"))

    assert served(replying(reply, seen=seen), work) == refusal
    assert seen == [("bind", {"PodName": "p", "PodNamespace": "default", "PodUID": "uid-1", "Node": "n1"})]


@pytest.mark.parametrize(
    ("handler", "words", "said"),
    [
        pytest.param(
            replying("", status=503), {}, "failed filter with extender at URL {url}/filter, code 503", id="503"
        ),
        pytest.param(replying("<html>"), {}, "answered something else than filter needs", id="no JSON"),
        pytest.param(replying([1]), {}, "answered something else than filter needs", id="JSON of another shape"),
        pytest.param(replying({"Error": "broken"}), {}, "broken", id="its own error"),
    ],
)
def test_answers_that_are_none_become_a_sentence(handler: Handler, words: dict[str, Any], said: str) -> None:
    async def work(carrier: HttpExtenderClient, extender: Extender) -> tuple[Any, str]:
        return await filtering(carrier, extender), extender.url_prefix.rstrip("/")

    answer, url = served(handler, work, **words)
    assert said.format(url=url) in answer.error


def prioritizing(carrier: HttpExtenderClient, extender: Extender) -> Awaitable[ExtenderResult]:
    return carrier.ask(ExtenderPrioritizeArgs(extender, a_pod("p"), ["n1"]))


def preempting(carrier: HttpExtenderClient, extender: Extender) -> Awaitable[ExtenderResult]:
    return carrier.ask(ExtenderPreemptionArgs(extender, a_pod("p"), {"n1": [a_pod("v")]}, {"n1": 1}))


def binding(carrier: HttpExtenderClient, extender: Extender) -> Awaitable[str]:
    return carrier.bind(extender, Bind("default", "p", "uid-1", "n1"))


# what Go's decoder makes of each with the types of kube-scheduler v1.36.4
AS_GO_READS_THEM = {
    "filter in lower case": (
        filtering,
        '{"nodenames": ["n1"], "failednodes": {"N2": "Full"}, "error": null}',
        ExtenderFilterResult(["n1"], {"N2": "Full"}, {}),
    ),
    "filter in camel case": (
        filtering,
        '{"nodeNames": ["n1"], "failedAndUnresolvableNodes": {"n2": null}}',
        ExtenderFilterResult(["n1"], {}, {"n2": ""}),
    ),
    "an error in lower case": (filtering, '{"error": "no"}', ExtenderFilterResult(error="no")),
    "the last of two counts": (
        filtering,
        '{"NodeNames": ["n1"], "nodenames": ["n2"]}',
        ExtenderFilterResult(["n2"], {}, {}),
    ),
    "nodes in upper case": (
        filtering,
        '{"NODES": {"ITEMS": [{"METADATA": {"NAME": "n1"}}, null]}}',
        ExtenderFilterResult(["n1", ""], {}, {}),
    ),
    "items in upper case": (
        filtering,
        '{"Nodes": {"Items": [{"metadata": {"name": "n1"}}]}}',
        ExtenderFilterResult(["n1"], {}, {}),
    ),
    "nulls": (
        filtering,
        '{"NodeNames": [null, "n1"], "FailedNodes": null, "Error": null}',
        ExtenderFilterResult(["", "n1"], {}, {}),
    ),
    "nothing": (filtering, "null", ExtenderFilterResult((), {}, {})),
    "scores in lower case": (
        prioritizing,
        '[{"host": "n1", "score": 3}, {"HOST": "n2", "SCORE": null}, null]',
        ExtenderPrioritizeResult({"n1": 3, "n2": 0, "": 0}),
    ),
    "no scores": (prioritizing, "null", ExtenderPrioritizeResult({})),
    "victims in lower case": (
        preempting,
        '{"nodeNameToMetaVictims": {"n1": {"pods": [{"uid": "u"}], "numpdbviolations": null}, "n2": null}}',
        ExtenderPreemptionResult({"n1": ["u"], "n2": []}, {"n1": 0, "n2": 0}),
    ),
    "no victims": (preempting, "null", ExtenderPreemptionResult({}, {})),
    "a binding that is refused in lower case": (binding, '{"error": "no"}', "no"),
    "a binding without a word": (binding, '{"Error": null}', ""),
}


@pytest.mark.parametrize("case", AS_GO_READS_THEM)
def test_results_are_read_as_the_reference_reads_them(case: str) -> None:
    work, text, expected = AS_GO_READS_THEM[case]
    assert served(replying(text), work, node_cache_capable=True) == expected


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param('{"NodeNames":["n1"],"More":' + DEEP + "}", ["n1"], id="deep where nobody looks"),
        pytest.param('{"NodeNames":["n1"],"Nodes":{"items":[{"spec":' + DEEP + "}]}}", ["n1"], id="deep in a node"),
        pytest.param('{"NodeNames":["n1"],"More":"\\ud800"}', ["n1"], id="half a surrogate pair"),
        pytest.param('{"NodeNames":["\\ud800"]}', ["\ufffd"], id="half a pair in a name"),
    ],
)
def test_what_is_not_needed_of_an_answer_may_be_anything(text: str, names: list[str]) -> None:
    assert served(replying(text), filtering, node_cache_capable=True) == ExtenderFilterResult(names, {}, {})


def test_what_is_needed_of_an_answer_may_not_be_anything() -> None:
    answer = served(replying('{"NodeNames":' + DEEP + "}"), filtering, node_cache_capable=True)
    assert "answered something else than filter needs" in answer.error


def test_an_answer_is_no_longer_than_the_question_allows() -> None:
    text = '{"Nodes":{"items":[' + "{}," * (5 << 20) + "{}]}}"
    answer = served(replying(text), filtering)
    assert "/filter cannot be reached: its answer is longer than 8 MiB" in answer.error


def test_an_answer_that_is_compressed_is_not_looked_at() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})

    assert "the answer is compressed (gzip), which was not asked for" in served(handler, filtering).error


# upstream: Go's http.Client sends the body again after 307 and 308
@pytest.mark.parametrize("code", [307, 308])
def test_an_extender_that_has_moved_is_followed(code: int) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if request.match_info["verb"] == "filter":
            return web.Response(status=code, headers={"Location": "/moved"})
        return web.json_response({"NodeNames": (await request.json())["NodeNames"][:1]})

    assert served(handler, filtering, node_cache_capable=True) == ExtenderFilterResult(["n1"], {}, {})


@pytest.mark.parametrize("status", [200, 503])
def test_the_password_of_an_extender_is_sent_and_never_shown(status: int) -> None:
    seen: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get("Authorization", ""))
        return web.json_response([1], status=status)

    async def work(carrier: HttpExtenderClient, extender: Extender) -> list[Any]:
        secret = msgspec.structs.replace(extender, url_prefix=extender.url_prefix.replace("//", "//me:s3cr3t@"))
        gone = msgspec.structs.replace(extender, url_prefix="http://me:s3cr3t@127.0.0.1:9")
        other = HttpExtenderClient([secret, gone], NODES.get)
        try:
            return [await filtering(other, secret), await filtering(other, gone)]
        finally:
            await other.close()

    for answer in served(handler, work):
        assert "http://[hidden]@127.0.0.1:" in answer.error
        assert "s3cr3t" not in answer.error
    assert seen == [f"Basic {base64.b64encode(b'me:s3cr3t').decode()}"]


def test_a_slow_extender_is_given_up_in_time() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    answer = served(handler, filtering, http_timeout=Duration(nanoseconds=50_000_000))
    assert "did not answer within 50ms" in answer.error


def test_an_extender_that_is_not_there_is_named() -> None:
    async def play() -> Any:
        extender = Extender(url_prefix="http://127.0.0.1:9", **VERBS)  # type: ignore[arg-type]
        carrier = HttpExtenderClient([extender], NODES.get)
        try:
            return await filtering(carrier, extender)
        finally:
            await carrier.close()

    assert "extender at URL http://127.0.0.1:9/filter cannot be reached" in asyncio.run(play()).error


def test_connections_are_used_again() -> None:
    ports: set[Any] = set()

    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername"))
        return web.json_response({"NodeNames": []})

    async def work(carrier: HttpExtenderClient, extender: Extender) -> None:
        for _ in range(5):
            await filtering(carrier, extender)

    served(handler, work, node_cache_capable=True)
    assert len(ports) == 1


def test_tls_is_verified_unless_asked_otherwise(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    reply = replying({"NodeNames": ["n1"]})
    strange = served(reply, filtering, context)
    assert "certificate verify failed" in strange.error
    trusted = ExtenderTLSConfig(ca_data=certificate.read_bytes())
    for settings in (trusted, ExtenderTLSConfig(insecure=True)):
        answer = served(reply, filtering, context, tls_config=settings, node_cache_capable=True)
        assert answer == ExtenderFilterResult(["n1"], {}, {})


def test_authorities_in_the_configuration_are_the_only_ones(
    authority: Authority, other_authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "system.pem"
    system.write_bytes(other_authority.certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(system))
    reply = replying({"NodeNames": ["n1"]})
    given = ExtenderTLSConfig(ca_data=authority.certificate)
    both = ExtenderTLSConfig(ca_data=authority.certificate, ca_file=str(system))
    for settings in (given, both):
        answer = served(reply, filtering, other_authority.serving(tmp_path), tls_config=settings)
        assert "certificate verify failed" in answer.error
    answer = served(reply, filtering, authority.serving(tmp_path), tls_config=both, node_cache_capable=True)
    assert answer == ExtenderFilterResult(["n1"], {}, {})


@pytest.mark.parametrize(("name", "trusted"), [("server.test", True), ("other.test", False), ("", False)])
def test_the_name_in_the_configuration_is_the_one_that_is_checked(
    name: str, trusted: bool, authority: Authority, tmp_path: Path
) -> None:
    tls = authority.serving(tmp_path, "127.0.0.2")
    settings = ExtenderTLSConfig(ca_data=authority.certificate, server_name=name)
    answer = served(replying({"NodeNames": ["n1"]}), filtering, tls, tls_config=settings, node_cache_capable=True)
    assert (answer.node_names == ["n1"]) == trusted
    assert ("certificate verify failed" in answer.error) == (not trusted)


def test_tls_settings_that_cannot_be_used_are_an_error_at_start(tmp_path: Path) -> None:
    extender = Extender(url_prefix="https://127.0.0.1", tls_config=ExtenderTLSConfig(ca_file=str(tmp_path / "none")))
    with pytest.raises(KubeschedError, match=r"extender https://127.0.0.1: its TLS settings cannot be used"):
        tls_context(extender)
    broken = msgspec.structs.replace(extender, tls_config=ExtenderTLSConfig(ca_data=b"no certificate"))
    with pytest.raises(KubeschedError, match="its TLS settings cannot be used"):
        tls_context(broken)


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for 127.0.0.1 and its key."""
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    crt, pem = folder / "tls.crt", folder / "tls.key"
    crt.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return crt, pem
