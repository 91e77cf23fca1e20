"""Credentials that change while a client is at work: token files, certificates in files, refused tokens."""

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.credentials.sources import (
    PAUSE_SECONDS,
    PEM_FILE_SECONDS,
    TOKEN_FILE_SECONDS,
    Credentials,
    CredentialsError,
    Pem,
    PemSource,
    Proof,
    TokenFile,
)
from kubesched.client.rest import Refused, RestClient, RestConfig, Unreachable
from kubesched.common.notes import seldom

Read = Callable[[], Awaitable[str]]


async def who(request: web.Request) -> web.Response:
    """Answer with the name in the client's certificate."""
    assert request.transport is not None
    certificate = request.transport.get_extra_info("peercert") or {}
    names = dict(part[0] for part in certificate.get("subject", ()))
    return web.Response(text=names.get("commonName", "nobody"))


def takes(*tokens: str, asked: list[str] | None = None) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Return a handler that accepts some bearer tokens."""

    async def handler(request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if asked is not None:
            asked.append(token)
        if token in tokens:
            return web.Response(text="welcome")
        status = {"kind": "Status", "code": 401, "reason": "Unauthorized", "message": "Unauthorized"}
        return web.json_response(status, status=401)

    return handler


def pointed(server: str, credentials: Credentials) -> RestConfig:
    return RestConfig(
        server, credentials.headers, tls=credentials.tls, rejected=credentials.rejected, origin="the test"
    )


@asynccontextmanager
async def speaking(target: RestConfig) -> AsyncIterator[RestClient]:
    rest = RestClient(target, "test")
    try:
        yield rest
    finally:
        await rest.close()


async def said(rest: RestClient) -> str:
    return (await rest.get("/api")).decode()


# -- token files


def test_a_token_file_is_read_again_after_a_while(tmp_path: Path, hands: Any) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    source = TokenFile(file, "tokenFile", clock=hands)
    file.write_text("second\n")
    hands.now += TOKEN_FILE_SECONDS - 1
    assert not source.due()
    assert source.read(rejected=False).authorization == "Bearer first"
    hands.now += 1
    assert source.due()
    assert source.read(rejected=False).authorization == "Bearer second"
    assert not source.due()


@pytest.mark.parametrize("broken", ["", "  \n", "two\nlines", None])
def test_the_last_good_token_is_kept_while_the_file_is_not_good(broken: str | None, tmp_path: Path, hands: Any) -> None:
    file = tmp_path / "token"
    file.write_text("good")
    notes: list[str] = []
    source = TokenFile(file, "tokenFile", note=notes.append, clock=hands)
    if broken is None:
        file.unlink()
    else:
        file.write_text(broken)
    hands.now += TOKEN_FILE_SECONDS
    assert source.read(rejected=False).authorization == "Bearer good"
    assert len(notes) == 1
    assert notes[0].startswith("tokenFile: ")
    assert notes[0].endswith("the token that was read before is used")


def test_a_refused_token_is_looked_up_at_once_and_the_request_sent_again(serving: Any, tmp_path: Path) -> None:
    async def play() -> None:
        file = tmp_path / "token"
        file.write_text("old")
        asked: list[str] = []
        async with serving(takes("new", asked=asked)) as server:
            credentials = Credentials(PemSource(), [TokenFile(file, "tokenFile")], secure=False)
            async with speaking(pointed(server, credentials)) as rest:
                file.write_text("new")
                assert await said(rest) == "welcome"
                assert asked == ["old", "new"]

    asyncio.run(play())


def test_a_stream_is_opened_again_with_the_new_token(serving: Any, tmp_path: Path) -> None:
    async def play() -> None:
        file = tmp_path / "token"
        file.write_text("old")
        async with serving(takes("new")) as server:
            credentials = Credentials(PemSource(), [TokenFile(file, "tokenFile")], secure=False)
            async with speaking(pointed(server, credentials)) as rest:
                file.write_text("new")
                async with rest.stream("/watch", {}) as stream:
                    assert await stream.read() == b"welcome"

    asyncio.run(play())


def test_a_token_that_stays_refused_is_said_to_be_so_and_not_tried_for_ever(serving: Any, tmp_path: Path) -> None:
    async def play() -> None:
        file = tmp_path / "token"
        file.write_text("old")
        asked: list[str] = []
        async with serving(takes("other", asked=asked)) as server:
            credentials = Credentials(PemSource(), [TokenFile(file, "tokenFile")], secure=False)
            async with speaking(pointed(server, credentials)) as rest:
                with pytest.raises(Refused) as caught:
                    await said(rest)
                assert caught.value.code == 401
                assert str(caught.value) == (
                    "Unauthorized: the API server does not accept the credentials of the test; "
                    "they may have expired or been revoked"
                )
                assert asked == ["old"]

    asyncio.run(play())


def test_a_target_with_fixed_headers_needs_no_more(serving: Any) -> None:
    async def headers() -> Mapping[str, str]:
        return {"Authorization": "Bearer fixed"}

    async def play() -> None:
        asked: list[str] = []
        async with serving(takes(asked=asked)) as server, speaking(RestConfig(server, headers)) as rest:
            with pytest.raises(Refused, match="credentials of the configuration"):
                await said(rest)
            assert asked == ["fixed"]

    asyncio.run(play())


# -- certificates


def written(folder: Path, identity: Any) -> PemSource:
    (folder / "crt").write_bytes(identity.certificate)
    (folder / "key").write_bytes(identity.key)
    return PemSource(
        certificate=Pem("client-certificate", path=folder / "crt"), key=Pem("client-key", path=folder / "key")
    )


def test_new_certificates_are_shown_by_new_connections(
    serving: Any, authority: Any, tmp_path: Path, hands: Any
) -> None:
    async def play() -> None:
        first, second = authority.issue("first"), authority.issue("second")
        (tmp_path / "ca").write_bytes(authority.certificate)
        written(tmp_path, first)
        notes: list[str] = []
        pem = PemSource(
            authorities=Pem("certificate-authority", path=tmp_path / "ca"),
            certificate=Pem("client-certificate", path=tmp_path / "crt"),
            key=Pem("client-key", path=tmp_path / "key"),
            clock=hands,
        )
        async with serving(who, authority.serving(tmp_path)) as server:
            credentials = Credentials(pem, note=notes.append)
            async with speaking(pointed(server, credentials)) as rest:
                assert await said(rest) == "first"
                context = credentials.tls()
                hands.now += PEM_FILE_SECONDS
                assert await said(rest) == "first"
                assert credentials.tls() is context, "nothing changed, so connections are used again"
                # one file is replaced before the other
                (tmp_path / "crt").write_bytes(second.certificate)
                hands.now += PEM_FILE_SECONDS
                assert await said(rest) == "first"
                assert notes == [
                    "client-key: does not belong to the certificate; the certificates that were read before are used"
                ]
                (tmp_path / "key").write_bytes(second.key)
                hands.now += PEM_FILE_SECONDS
                assert await said(rest) == "second"
                assert credentials.tls() is not context

    asyncio.run(play())


def test_new_authorities_are_trusted(
    serving: Any, authority: Any, other_authority: Any, tmp_path: Path, hands: Any
) -> None:
    async def play() -> None:
        (tmp_path / "ca").write_bytes(other_authority.certificate)
        pem = PemSource(authorities=Pem("certificate-authority", path=tmp_path / "ca"), clock=hands)
        server_tls = authority.serving(tmp_path)
        async with serving(who, server_tls) as server, speaking(pointed(server, Credentials(pem))) as rest:
            with pytest.raises(Unreachable) as caught:
                await said(rest)
            assert not caught.value.maybe_done
            assert re.fullmatch(
                rf"the certificate of {server} is not trusted \(.*certificate.*\): "
                "check certificate-authority and tls-server-name of the test",
                str(caught.value),
            )
            (tmp_path / "ca").write_bytes(authority.certificate)
            hands.now += PEM_FILE_SECONDS
            assert await said(rest) == "nobody"

    asyncio.run(play())


def test_a_server_under_another_name(serving: Any, authority: Any, tmp_path: Path) -> None:
    async def play() -> None:
        pem = PemSource(authorities=Pem("ca", authority.certificate))
        async with serving(who, authority.serving(tmp_path, "10.0.0.1")) as server:
            credentials = Credentials(pem)
            target = pointed(server, credentials)
            async with speaking(target) as rest:
                with pytest.raises(Unreachable, match=r"certificate is not valid for '127\.0\.0\.1'"):
                    await said(rest)
            named = RestConfig(server, credentials.headers, tls=credentials.tls, server_name="server.test")
            async with speaking(named) as rest:
                assert await said(rest) == "nobody"

    asyncio.run(play())


def test_from_a_kubeconfig_with_files_to_a_renewed_certificate(
    serving: Any, authority: Any, kubeconfig: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubesched.client.credentials.sources.PEM_FILE_SECONDS", 0.0)

    async def play() -> None:
        (tmp_path / "ca").write_bytes(authority.certificate)
        written(tmp_path, authority.issue("first"))
        async with serving(who, authority.serving(tmp_path)) as server:
            path = kubeconfig(
                {"client-certificate": "crt", "client-key": "key"}, {"server": server, "certificate-authority": "ca"}
            )
            async with speaking(load_rest_config(path, environment={})) as rest:
                assert await said(rest) == "first"
                written(tmp_path, authority.issue("second"))
                assert await said(rest) == "second"

    asyncio.run(play())


# -- how sources are read


class Counted:
    """A source that takes its time, and counts."""

    def __init__(self, *outcomes: Proof | CredentialsError) -> None:
        self.outcomes = list(outcomes)
        self.reads = 0
        self.got: Proof | None = None
        self.go_on = threading.Event()

    def due(self) -> bool:
        return self.got is None

    def read(self, *, rejected: bool) -> Proof:
        self.go_on.wait(10)
        if self.got is not None and not rejected:
            return self.got
        self.reads += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, CredentialsError):
            raise outcome
        self.got = outcome
        return outcome


def test_all_who_need_credentials_wait_for_the_same_reading_and_the_loop_goes_on(eventually: Any) -> None:
    async def play() -> None:
        source = Counted(Proof("Bearer x"))
        credentials = Credentials(PemSource(), [source], secure=False)
        requests = [asyncio.ensure_future(credentials.headers()) for _ in range(20)]
        await asyncio.sleep(0)
        requests[0].cancel()
        source.go_on.set()
        outcomes = await asyncio.gather(*requests, return_exceptions=True)
        assert isinstance(outcomes[0], asyncio.CancelledError)
        assert all(not isinstance(one, BaseException) and one["Authorization"] == "Bearer x" for one in outcomes[1:])
        assert source.reads == 1

    asyncio.run(play())


def test_one_reading_serves_the_loops_of_two_threads() -> None:
    source = Counted(Proof("Bearer x"))
    credentials = Credentials(PemSource(), [source], secure=False)
    found: list[str] = []

    def run() -> None:
        found.append(asyncio.run(_authorization(credentials)))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    source.go_on.set()
    for thread in threads:
        thread.join(10)
    assert found == ["Bearer x", "Bearer x"]
    assert source.reads == 1


async def _authorization(credentials: Credentials) -> str:
    return (await credentials.headers())["Authorization"]


def test_what_fails_is_not_asked_again_for_each_request(hands: Any) -> None:
    async def play() -> None:
        source = Counted(CredentialsError("no"), Proof("Bearer x"))
        source.go_on.set()
        credentials = Credentials(PemSource(), [source], secure=False, clock=hands)
        for _ in range(5):
            with pytest.raises(CredentialsError, match="no"):
                await credentials.headers()
        assert source.reads == 1
        hands.now += PAUSE_SECONDS
        assert (await credentials.headers())["Authorization"] == "Bearer x"

    asyncio.run(play())


def test_a_rejection_of_what_is_no_longer_shown_reads_nothing(hands: Any) -> None:
    async def play() -> None:
        source = Counted(Proof("Bearer a"), Proof("Bearer b"), Proof("Bearer c"))
        source.go_on.set()
        credentials = Credentials(PemSource(), [source], secure=False, clock=hands)
        old = await credentials.headers()
        assert await asyncio.gather(*(credentials.rejected(old) for _ in range(5))) == [True] * 5
        assert source.reads == 2
        new = await credentials.headers()
        assert new["Authorization"] == "Bearer b"
        # a server that refuses everything must not have credentials renewed for each request
        assert not await credentials.rejected(new)
        hands.now += PAUSE_SECONDS
        assert await credentials.rejected(new)
        assert (await credentials.headers())["Authorization"] == "Bearer c"
        hands.now += PAUSE_SECONDS
        assert await credentials.rejected(new), "an answer that was long under way"
        assert source.reads == 3

    asyncio.run(play())


def test_a_hundred_thousand_requests_ask_for_credentials_in_no_time(tmp_path: Path) -> None:
    async def play() -> float:
        (tmp_path / "token").write_text("x")
        credentials = Credentials(PemSource(), [TokenFile(tmp_path / "token", "t")], secure=False)
        began = time.perf_counter()
        for _ in range(100_000):
            await credentials.headers()
        return time.perf_counter() - began

    assert asyncio.run(play()) < 3.0


def test_the_same_complaint_is_said_once_a_minute(hands: Any) -> None:
    said: list[str] = []
    note = seldom(said.append, hands)
    for _ in range(90):
        note("a")
        hands.now += 1
    note("b")
    assert said == ["a", "a", "b"]
