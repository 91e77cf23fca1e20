"""Every page for everybody: who is let in, who is not known, who may not, and what they are told."""

import gzip
import http.client
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.processes import SECONDS
from tests.support.serving import Facts, FakeApi, RefusedError, Served, served, trusting

from kubesched.serving.auth.reviews import ACCESS_REVIEWS, TOKEN_REVIEWS
from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.routes import Pages

TOKEN = "the-secret-token-of-anna"
ANNA = {"username": "anna", "uid": "7", "groups": ["writers"], "extra": {"from": ["here"]}}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
OPEN = ("/healthz", "/livez", "/readyz")
PROTECTED = (
    "/metrics",
    "/metrics/slis",
    "/metrics/resources",
    "/configz",
    "/statusz",
    "/flagz",
    "/debug/pprof/",
    "/debug/pprof/goroutine",
    "/debug/flags",
    "/healthz/leaderElection",
    "/livez/ping",
    "/readyz/shutdown",
)
MISSING = ("/", "/nope", "/healthz/", "/healthz/ping", "/metrics/", "/debug", "/debug/pprof/heap")


@pytest.fixture(scope="module")
def everything(identities: Any) -> Iterator[Served]:
    """A scheduler with every way to prove who one is; anna, viewer and the proxy's bob may see all pages."""
    api = FakeApi()
    api.tokens[TOKEN] = ANNA
    api.allowed = {(user, path) for user in ("anna", "viewer", "bob") for path in (*PROTECTED, *MISSING)}
    options = ServingOptions(
        client_ca_file=identities.client_ca,
        requestheader_client_ca_file=identities.proxy_ca,
        requestheader_allowed_names=("front-proxy",),
    )
    with served(options, api) as found:
        yield found


# headers and identity of each kind of client; the codes of open, protected and missing pages
CLIENTS = {
    "nobody in particular": ({}, None, (200, 403, 403)),
    "a token that somebody has": (BEARER, None, (200, 200, 404)),
    "a token that nobody has": ({"Authorization": "Bearer wrong"}, None, (401, 401, 401)),
    "a password, which proves nothing here": ({"Authorization": "Basic YTpi"}, None, (200, 403, 403)),
    "a certificate": ({}, "viewer", (200, 200, 404)),
    "a certificate without a usage": ({}, "without-usage", (200, 200, 404)),
    "a member of system:masters, whom nobody is asked about": ({}, "admin", (200, 200, 404)),
    "a certificate of somebody who may nothing": ({}, "behind", (200, 403, 403)),
    "the same without the one between": ({}, "behind-alone", (401, 401, 401)),
    "an expired certificate": ({}, "expired", (401, 401, 401)),
    "a certificate for servers": ({}, "server", (401, 401, 401)),
    "a certificate without a name": ({}, "nameless", (401, 401, 401)),
    "a certificate of another authority of that name": ({}, "foreign", (401, 401, 401)),
    "such a certificate, with a token that somebody has": (BEARER, "foreign", (200, 200, 404)),
    "a certificate, with a token that nobody has": ({"Authorization": "Bearer wrong"}, "viewer", (200, 200, 404)),
    "a proxy that names a user": ({"X-Remote-User": "bob"}, "proxy", (200, 200, 404)),
    "a proxy that names an administrator": (
        {"X-Remote-User": "carol", "X-Remote-Group": "system:masters"},
        "proxy",
        (200, 200, 404),
    ),
    "a proxy that names nobody": ({}, "proxy", (401, 401, 401)),
    "a proxy that is not among the allowed ones": ({"X-Remote-User": "bob"}, "other-proxy", (401, 401, 401)),
    "the headers of a proxy without a certificate": ({"X-Remote-User": "bob"}, None, (200, 403, 403)),
    "the headers of a proxy with a client's certificate": (
        {"X-Remote-User": "carol", "X-Remote-Group": "system:masters"},
        "behind",
        (200, 403, 403),
    ),
}


@pytest.mark.parametrize("case", CLIENTS)
def test_every_page_for_every_kind_of_client(everything: Served, identities: Any, case: str) -> None:
    headers, name, codes = CLIENTS[case]
    identity = identities(name) if name else None
    for paths, code in zip((OPEN, PROTECTED, MISSING), codes, strict=True):
        for path in paths:
            assert everything.fetch(path, headers, identity=identity).code == code, path


# -- the words of refusals, as the reference says them


def test_what_those_are_told_who_are_not_known(everything: Served) -> None:
    found = everything.fetch("/healthz", {"Authorization": "Bearer wrong"})
    assert found.body == (
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized",'
        '"reason":"Unauthorized","code":401}\n'
    )
    assert found.headers["Content-Type"] == "application/json"
    assert found.headers["Cache-Control"] == "no-cache, private"


def test_what_those_are_told_who_may_not(everything: Served) -> None:
    found = everything.fetch("/metrics")
    assert found.body == (
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        '"message":"forbidden: User \\"system:anonymous\\" cannot get path \\"/metrics\\"",'
        '"reason":"Forbidden","details":{},"code":403}\n'
    )
    assert found.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("case", "path", "headers", "beginning"),
    [
        ("people get it pretty", "/x", {"User-Agent": "curl/8"}, '{\n  "kind": "Status",\n  "apiVersion"'),
        ("or when they ask for it", "/x?pretty=true", {}, '{\n  "kind": "Status"'),
        ("but not when they decline", "/x?pretty=0", {"User-Agent": "curl/8"}, '{"kind":"Status"'),
        ("YAML for those who want it", "/x", {"Accept": "application/yaml"}, "apiVersion: v1\ncode: 403\n"),
        ("JSON where nothing suits", "/x", {"Accept": "text/html"}, '{\n  "kind": "Status"'),
        ("the better of two", "/x", {"Accept": "application/yaml;q=0.1,application/json"}, '{"kind":"Status"'),
        ("nothing looks like HTML", "/<b>&", {}, '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
         '"message":"forbidden: User \\"system:anonymous\\" cannot get path \\"/\\u0026lt;b\\u0026gt;\\u0026amp;\\""'),
    ],
)  # fmt: skip
def test_forms_of_a_refusal(everything: Served, case: str, path: str, headers: dict[str, str], beginning: str) -> None:
    assert everything.fetch(path, headers).body.startswith(beginning), case


def test_the_api_servers_reason_is_passed_on() -> None:
    api = FakeApi()
    api.reason = "no rule"
    with served(api=api) as found:
        message = json.loads(found.fetch("/metrics", method="PUT").body)["message"]
    assert message == 'forbidden: User "system:anonymous" cannot put path "/metrics": no rule'


def test_an_api_server_that_cannot_be_reached() -> None:
    """Nobody knows whether the page may be seen: 500; nobody knows whose token it is: 401; health is answered."""
    api = FakeApi()
    api.broken = RefusedError(0, "connection refused")
    with served(api=api) as found:
        refusal = found.fetch("/metrics?a=b")
        assert (refusal.code, refusal.body) == (500, 'Internal Server Error: "/metrics?a=b": connection refused\n')
        assert found.fetch("/metrics", BEARER).code == 401
        assert found.fetch("/healthz").code == 200
        assert "Failed to make webhook authorizer request: connection refused" in found.notes


def test_without_an_api_server_only_the_open_pages_are_seen() -> None:
    """Tokens prove nothing then, so whoever sends one is anonymous."""
    with served() as found:
        assert found.fetch("/livez", BEARER).code == 200
        assert "system:anonymous" in found.fetch("/metrics", BEARER).body
        assert [note.split()[0] for note in found.notes].count("No") == 3


def test_what_is_asked_of_the_api_server(identities: Any) -> None:
    """The review names all that is known of a user."""
    api = FakeApi()
    api.tokens[TOKEN] = ANNA
    options = ServingOptions(
        requestheader_client_ca_file=identities.proxy_ca,
        requestheader_uid_headers=("x-remote-uid",),
        authentication_skip_lookup=True,
    )
    with served(options, api) as found:
        found.fetch("/metrics", BEARER)
        assert api.asked[:2] == [
            (TOKEN_REVIEWS, {"token": TOKEN}),
            (
                ACCESS_REVIEWS,
                {
                    "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
                    "user": "anna",
                    "groups": ["writers", "system:authenticated"],
                    "extra": {"from": ["here"]},
                    "uid": "7",
                },
            ),
        ]
        headers = {"X-Remote-User": "bob", "X-Remote-Uid": "9", "X-Remote-Extra-Acme.com%2fColour": "red"}
        found.fetch("/configz", headers, identity=identities("proxy"))
        spec = api.asked[-1][1]
        assert spec["user"] == "bob"
        assert spec["uid"] == "9"
        assert spec["extra"] == {"acme.com/colour": ["red"]}


def test_the_token_is_nowhere_to_be_seen() -> None:
    """Not in a note and not in an answer, even if the API server repeats it."""
    api = FakeApi()
    api.broken = RefusedError(400, f"cannot parse {TOKEN}")
    with served(ServingOptions(authentication_skip_lookup=True), api) as found:
        answers = [found.fetch(path, BEARER).body for path in ("/healthz", "/metrics", "/nope")]
        assert TOKEN not in "".join([*answers, *found.notes])
        assert any("cannot parse [token]" in note for note in found.notes)


@pytest.mark.parametrize(
    ("path", "opened"),
    [
        ("/metrics", True),
        ("/metrics/slis", True),
        ("/metric", False),
        ("/configz", True),
        ("/configz/", False),
        ("/debug/pprof/", False),
        ("/healthz", False),
    ],
)
def test_paths_that_an_operator_opens(path: str, opened: bool) -> None:
    """Plain paths, or beginnings with a star; the usual ones are closed unless they are named, too."""
    options = ServingOptions(authorization_always_allow_paths=("/metrics*", "configz"))
    with served(options) as found:
        assert (found.fetch(path).code != 403) is opened


def test_escapes_lead_no_way_around() -> None:
    """What is authorized is what is served."""
    with served() as found:
        assert found.fetch("/%68ealthz").code == 200
        for path in ("/healthz/../metrics", "/healthz%2f..%2fmetrics", "//metrics", "/%6detrics", "/healthz;/metrics"):
            assert found.fetch(path).code == 403, path
        assert found.fetch("/metrics%").code == 400


# -- the pages themselves


def test_pages_of_metrics(everything: Served) -> None:
    found = everything.fetch("/metrics", BEARER)
    assert found.body == "scheduler_up 1\n"
    assert found.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
    assert found.headers["Process-Start-Time-Unix"] == "1700000000"
    assert everything.fetch("/metrics/resources", BEARER).body == "kube_pod_resource_request 1\n"


def test_metrics_are_compressed_for_those_who_take_it(everything: Served, identities: Any) -> None:
    for accepted, encoding in (("gzip", "gzip"), ("gzip;q=0", None), ("br", None), ("br, *", "gzip")):
        connection = http.client.HTTPSConnection("127.0.0.1", everything.server.port, context=trusting())
        connection.request("GET", "/metrics", headers={**BEARER, "Accept-Encoding": accepted})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        assert response.headers["Content-Encoding"] == encoding, accepted
        assert (gzip.decompress(body) if encoding else body) == b"scheduler_up 1\n"


def test_metrics_of_resources_are_empty_on_a_standby() -> None:
    facts = Facts()
    facts.stopping = True
    options = ServingOptions(authorization_always_allow_paths=("*",))
    with served(options, facts=facts) as found:
        reply = found.fetch("/metrics/resources")
        assert (reply.code, reply.body) == (200, "")
        assert "Process-Start-Time-Unix" not in reply.headers


def test_metrics_can_be_reset() -> None:
    with served(ServingOptions(authorization_always_allow_paths=("*",))) as found:
        assert found.fetch("/metrics", method="DELETE").body == "metrics reset\n"
        assert found.fetch("/metrics").body == "reset 1\n"


def test_configz_shows_no_private_key() -> None:
    facts = Facts()
    facts.config["extenders"] = [
        {"urlPrefix": "https://me:s3cr3t@a", "tlsConfig": {"certData": "Y2VydA==", "keyData": "c2VjcmV0"}},
        {"urlPrefix": "https://b"},
    ]
    with served(ServingOptions(authorization_always_allow_paths=("*",)), facts=facts) as found:
        reply = found.fetch("/configz")
    shown = json.loads(reply.body)["componentconfig"]
    assert reply.headers["Content-Type"] == "application/json"
    assert shown["extenders"][0]["tlsConfig"] == {"certData": "Y2VydA==", "keyData": "[hidden]"}
    assert shown["extenders"][0]["urlPrefix"] == "https://[hidden]@a"
    assert shown["extenders"][1] == {"urlPrefix": "https://b"}


def test_a_page_that_cannot_be_written_is_an_error_of_its_own() -> None:
    facts = Facts()
    facts.metrics = lambda: str(1 / 0)
    with served(ServingOptions(authorization_always_allow_paths=("*",)), facts=facts) as found:
        assert found.fetch("/metrics").code == 500
        assert found.fetch("/metrics/slis").code == 200
        assert "a page could not be written: ZeroDivisionError: division by zero" in found.notes


def test_a_slow_page_does_not_hold_up_health() -> None:
    facts, go_on = Facts(), threading.Event()
    facts.metrics = lambda: str(go_on.wait(2 * SECONDS))
    with served(ServingOptions(authorization_always_allow_paths=("*",)), facts=facts) as found:
        asking = threading.Thread(target=lambda: found.fetch("/metrics"))
        asking.start()
        try:
            started = time.monotonic()
            assert found.fetch("/healthz").body == "ok"
            assert time.monotonic() - started < SECONDS
        finally:
            go_on.set()
            asking.join()


def test_pages_behind_gates() -> None:
    """Without their facts /flagz, /statusz and /debug are not there."""

    class Bare(Facts):
        def pages(self) -> Pages:
            return replace(super().pages(), flags=None, versions=None, set_verbosity=None)

    with served(ServingOptions(authorization_always_allow_paths=("*",)), facts=Bare()) as found:
        for path in ("/flagz", "/statusz", "/debug/pprof/", "/debug/flags/v"):
            reply = found.fetch(path)
            assert (reply.code, reply.body) == (404, "404 page not found\n")
