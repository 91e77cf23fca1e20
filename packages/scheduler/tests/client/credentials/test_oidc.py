"""OpenID Connect: ID tokens that are valid, expire or are rejected, and an issuer on loopback that may renew them."""

import asyncio
import base64
import json
import ssl
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aiohttp import web

from kubesched.client.credentials.kubeconfig import keep_tokens
from kubesched.client.credentials.oidc import EARLY_SECONDS, OidcConfig, OidcProvider, OidcTokens
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.credentials.sources import Credentials, CredentialsError, PemSource
from kubesched.client.rest import RestClient
from kubesched.config.document import parse

NOW = 1_000_000.0


def id_token(name: str, expires: float) -> str:
    def part(document: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'sub': name, 'exp': expires})}.c2lnbmF0dXJl"


class Issuer:
    """An issuer that gives tokens for refresh tokens, each of them once; `form_only` wants the client in the form."""

    def __init__(self, *, form_only: bool = False, expires: float = NOW + 3600) -> None:
        self.form_only = form_only
        self.expires = expires
        self.good = "refresh-0"
        self.given = 0
        self.asked: list[tuple[dict[str, str], str]] = []
        self.answers: dict[str, tuple[int, str]] = {}
        self.address = ""

    async def handle(self, request: web.Request) -> web.Response:
        if request.path in self.answers:
            status, text = self.answers[request.path]
            return web.Response(status=status, text=text)
        if request.path == "/.well-known/openid-configuration":
            return web.json_response({"issuer": self.address, "token_endpoint": f"{self.address}/token"})
        form = dict(parse_qsl(await request.text()))
        self.asked.append((form, request.headers.get("Authorization", "")))
        if self.form_only and "client_id" not in form:
            return web.json_response({"error": "invalid_client"}, status=401)
        if form.get("refresh_token") != self.good:
            return web.json_response({"error": "invalid_grant", "error_description": "it was used"}, status=400)
        self.given += 1
        self.good = f"refresh-{self.given}"
        return web.json_response(
            {"id_token": id_token(f"user-{self.given}", self.expires), "refresh_token": self.good, "access_token": "x"}
        )

    def config(self, **changes: str) -> OidcConfig:
        words = {"idp_issuer_url": self.address, "client_id": "me+you", "client_secret": "s3/cr3t", **changes}
        return OidcConfig(**words)


@asynccontextmanager
async def opened(issuer: Issuer, serving: Any, tls: ssl.SSLContext | None = None) -> AsyncIterator[Issuer]:
    async with serving(issuer.handle, tls) as address:
        issuer.address = address
        yield issuer


async def shown(provider: OidcProvider, *, rejected: bool = False) -> str:
    return (await asyncio.to_thread(provider.read, rejected=rejected)).authorization


def test_a_valid_token_is_used_as_it_is(hands: Any) -> None:
    token = id_token("me", hands.now + EARLY_SECONDS + 1)
    provider = OidcProvider(OidcConfig(id_token=token), "oidc", None, now=hands)
    assert not provider.due()
    assert provider.read(rejected=False).authorization == f"Bearer {token}"
    assert provider.read(rejected=True).authorization == f"Bearer {token}", "it cannot be renewed"
    hands.now += 1
    assert provider.due()
    with pytest.raises(CredentialsError, match="id-token has expired, and there is no refresh-token"):
        provider.read(rejected=False)


@pytest.mark.parametrize("form_only", [False, True])
def test_a_token_is_renewed_and_both_tokens_are_kept(form_only: bool, serving: Any, hands: Any) -> None:
    async def play() -> None:
        kept: list[OidcTokens] = []
        hands.now = NOW
        async with opened(Issuer(form_only=form_only), serving) as issuer:
            config = issuer.config(refresh_token="refresh-0", id_token=id_token("old", NOW))
            provider = OidcProvider(config, "oidc", None, keep=kept.append, now=hands)
            first = id_token("user-1", NOW + 3600)
            assert await shown(provider) == f"Bearer {first}"
            assert kept == [OidcTokens(first, "refresh-1")]
            assert await shown(provider) == f"Bearer {first}"
            form, header = issuer.asked[-1]
            assert form["grant_type"] == "refresh_token"
            if form_only:
                assert (form["client_id"], form["client_secret"], header) == ("me+you", "s3/cr3t", "")
            else:
                assert base64.b64decode(header.removeprefix("Basic ")) == b"me%2Byou:s3%2Fcr3t"
            hands.now += 3600
            issuer.expires += 3600
            assert await shown(provider) == f"Bearer {id_token('user-2', NOW + 7200)}"
            assert await shown(provider, rejected=True) == f"Bearer {id_token('user-3', NOW + 7200)}"
            assert kept[-1].refresh_token == "refresh-3"

    asyncio.run(play())


@pytest.mark.parametrize(
    ("sentence", "answers", "expected"),
    [
        (
            "no discovery",
            {"/.well-known/openid-configuration": (404, "")},
            "openid-configuration answered with code 404",
        ),
        (
            "a discovery of nothing",
            {"/.well-known/openid-configuration": (200, "{}")},
            "openid-configuration names no token_endpoint; check idp-issuer-url",
        ),
        (
            "a page for people",
            {"/.well-known/openid-configuration": (200, "<html>")},
            "openid-configuration names no token_endpoint; check idp-issuer-url",
        ),
        ("no tokens", {"/token": (200, "[]")}, "/token answered with something else than tokens; check idp-issuer-url"),
        (
            "no ID token",
            {"/token": (200, '{"access_token": "x"}')},
            'gave no id_token for the refresh-token; log in with the scope "openid", '
            "or use an issuer that renews ID tokens",
        ),
        ("a strange ID token", {"/token": (200, '{"id_token": "x.y"}')}, "the ID token is no JSON Web Token"),
        (
            "a refusal",
            {"/token": (400, '{"error": "invalid_grant", "error_description": "expired\\n session"}')},
            "/token answered with code 400 (invalid_grant: expired session)",
        ),
    ],
)
def test_issuers_that_do_not_help(
    sentence: str, answers: dict[str, tuple[int, str]], expected: str, serving: Any, hands: Any
) -> None:
    async def play() -> str:
        async with opened(Issuer(), serving) as issuer:
            issuer.answers = answers
            provider = OidcProvider(issuer.config(refresh_token="refresh-s3cr3t"), "oidc", None, now=hands)
            with pytest.raises(CredentialsError) as caught:
                await shown(provider)
            return str(caught.value)

    message = asyncio.run(play())
    assert message.startswith("oidc: "), sentence
    assert expected in message, sentence
    assert "s3" not in message
    assert "\n" not in message


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("elsewhere", [True, False], ids=["elsewhere", "at the same server"])
def test_who_asks_is_not_told_to_whom_the_issuer_redirects(
    code: int, elsewhere: bool, serving: Any, hands: Any
) -> None:
    got: list[str] = []

    async def thief(request: web.Request) -> web.Response:
        got.append(request.headers.get("Authorization", "") + str(request.url) + await request.text())
        return web.json_response({})

    async def play() -> None:
        async with serving(thief) as other, opened(Issuer(), serving) as issuer:
            target = other if elsewhere else issuer.address

            async def handle(request: web.Request) -> web.Response:
                if request.path == "/token":
                    return web.Response(status=code, headers={"Location": f"{target}/stolen"})
                return await Issuer.handle(issuer, request)

            issuer.handle = handle  # type: ignore[method-assign]
            async with serving(handle) as address:
                issuer.address = address
                provider = OidcProvider(issuer.config(refresh_token="refresh-s3cr3t"), "oidc", None, now=hands)
                with pytest.raises(CredentialsError):
                    await shown(provider)

    asyncio.run(play())
    assert not [each for each in got if "Basic" in each or "s3" in each]


def test_an_issuer_that_cannot_be_reached(hands: Any) -> None:
    config = OidcConfig(idp_issuer_url="http://127.0.0.1:1/", client_id="me", refresh_token="x")
    with pytest.raises(CredentialsError, match=r"http://127\.0\.0\.1:1/\.well-known.* cannot be reached: .*refused"):
        OidcProvider(config, "oidc", None, now=hands).read(rejected=False)


def test_tokens_that_cannot_be_written_are_used_nevertheless(serving: Any, hands: Any) -> None:
    def refuse(tokens: OidcTokens) -> None:
        raise OSError(30, "Read-only file system")

    async def play() -> None:
        hands.now = NOW
        notes: list[str] = []
        async with opened(Issuer(), serving) as issuer:
            config = issuer.config(refresh_token="refresh-0")
            provider = OidcProvider(config, "oidc", None, keep=refuse, note=notes.append, now=hands)
            assert await shown(provider) == f"Bearer {id_token('user-1', NOW + 3600)}"
        assert notes == ["oidc: the new tokens cannot be written to the kubeconfig: Read-only file system"]

    asyncio.run(play())


def test_the_loop_goes_on_while_the_issuer_thinks(serving: Any) -> None:
    """The issuer is served by the loop that waits for it: it could not answer otherwise."""

    async def play() -> None:
        async with opened(Issuer(expires=4e9), serving) as issuer:
            provider = OidcProvider(issuer.config(refresh_token="refresh-0"), "oidc", None)
            credentials = Credentials(PemSource(), [provider], secure=False)
            headers = await asyncio.gather(*(credentials.headers() for _ in range(10)))
            assert {entry["Authorization"] for entry in headers} == {f"Bearer {id_token('user-1', 4e9)}"}
            assert issuer.given == 1

    asyncio.run(play())


# -- from a kubeconfig


def test_from_a_kubeconfig_to_a_request_and_back_to_the_file(
    serving: Any, authority: Any, kubeconfig: Any, tmp_path: Path
) -> None:
    async def api(request: web.Request) -> web.Response:
        fresh = id_token("user-1", 4e9)
        return web.Response(status=200 if request.headers.get("Authorization") == f"Bearer {fresh}" else 401)

    async def play() -> None:
        encoded = base64.b64encode(authority.certificate).decode()
        tls = authority.serving(tmp_path)
        async with opened(Issuer(expires=4e9), serving, tls) as issuer, serving(api, tls) as server:
            config = {
                "idp-issuer-url": issuer.address,
                "client-id": "me",
                "idp-certificate-authority-data": encoded,
                "id-token": id_token("revoked", 4e9),
                "refresh-token": "refresh-0",
                "extra-scopes": "groups",
            }
            cluster = {"server": server, "certificate-authority-data": encoded}
            path = Path(kubeconfig({"auth-provider": {"name": "oidc", "config": config}}, cluster))
            path.chmod(0o600)
            rest = RestClient(load_rest_config(str(path), environment={}), "test")
            await rest.get("/")
            await rest.close()
        written = parse(path.read_text())
        kept = written["users"][0]["user"]["auth-provider"]["config"]
        assert kept == {**config, "id-token": id_token("user-1", 4e9), "refresh-token": "refresh-1"}
        assert written["clusters"][0]["cluster"] == cluster
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []

    asyncio.run(play())


def test_a_kubeconfig_behind_a_link_stays_behind_it(kubeconfig: Any, tmp_path: Path) -> None:
    user = {"auth-provider": {"name": "oidc", "config": {"idp-issuer-url": "https://i", "client-id": "me"}}}
    path = Path(kubeconfig(user))
    link = tmp_path / "link"
    link.symlink_to(path)
    keep_tokens(link, "u", OidcTokens("a", "b"))
    assert link.is_symlink()
    assert parse(path.read_text())["users"][0]["user"]["auth-provider"]["config"]["refresh-token"] == "b"
