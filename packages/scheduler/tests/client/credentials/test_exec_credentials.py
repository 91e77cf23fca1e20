"""Exec plugins, as real little programs: what they are told, what they answer, and what becomes of it."""

import asyncio
import base64
import json
import stat
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubesched.client.credentials.exec_plugin import ExecConfig, ExecPlugin, ExecVariable
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.credentials.sources import Credentials, CredentialsError, PemSource
from kubesched.client.rest import Refused, RestClient, RestConfig

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
SECRET = "s3cr3t"


class Program:
    """A plugin that writes `answer` and keeps a record of how it was run."""

    def __init__(self, folder: Path, name: str = "plugin") -> None:
        self.path = folder / name
        self._answer = folder / f"{name}.answer"
        self._record = folder / f"{name}.record"
        self.runs("cat " + str(self._answer))

    def runs(self, script: str) -> None:
        record = f'printf "%s\\n" "$KUBERNETES_EXEC_INFO" "$*" "$GREETING" >> {self._record}'
        self.path.write_text(f"#!/bin/sh\n{record}\n{script}\n")
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)

    def answers(self, status: Any, version: str = V1, **more: Any) -> None:
        document = {"apiVersion": version, "kind": "ExecCredential", "status": status, **more}
        self._answer.write_text(json.dumps(document))

    def writes(self, text: str) -> None:
        self._answer.write_text(text)

    @property
    def told(self) -> list[str]:
        """All that it was told, three lines a run: what it was asked, its arguments, a variable."""
        return self._record.read_text().splitlines() if self._record.exists() else []

    @property
    def count(self) -> int:
        return len(self.told) // 3

    def config(self, **changes: Any) -> ExecConfig:
        return ExecConfig(**{"command": str(self.path), "api_version": V1, "interactive_mode": "Never", **changes})

    def plugin(self, now: Callable[[], datetime] = lambda: datetime.now(UTC), **changes: Any) -> ExecPlugin:
        return ExecPlugin(self.config(**changes), "exec", {"server": "https://host"}, now=now)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_a_token_is_kept_while_nothing_speaks_against_it(program: Program) -> None:
    program.answers({"token": SECRET})
    plugin = program.plugin()
    assert plugin.due()
    assert plugin.read(rejected=False).authorization == f"Bearer {SECRET}"
    assert not plugin.due()
    plugin.read(rejected=False)
    assert program.count == 1


def test_a_token_that_expires_is_asked_for_again(program: Program) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    clock = [moment]
    program.answers({"token": "first", "expirationTimestamp": "2026-01-01T00:10:00Z"})
    plugin = program.plugin(now=lambda: clock[0])
    assert plugin.read(rejected=False).authorization == "Bearer first"
    clock[0] = moment + timedelta(minutes=10)
    assert not plugin.due()
    clock[0] += timedelta(seconds=1)
    assert plugin.due()
    program.answers({"token": "second"})
    assert plugin.read(rejected=False).authorization == "Bearer second"
    assert not plugin.due()


def test_a_rejected_token_is_asked_for_again(program: Program) -> None:
    program.answers({"token": "first"})
    plugin = program.plugin()
    plugin.read(rejected=False)
    program.answers({"token": "second"})
    assert plugin.read(rejected=True).authorization == "Bearer second"


@pytest.mark.parametrize("version", [V1, V1BETA1])
def test_a_plugin_is_told_what_it_is_asked(version: str, program: Program) -> None:
    program.answers({"token": SECRET}, version)
    variables = (ExecVariable("GREETING", "hello"),)
    program.plugin(api_version=version, args=("get", "token"), env=variables).read(rejected=False)
    asked, arguments, variable = program.told
    assert json.loads(asked) == {"kind": "ExecCredential", "apiVersion": version, "spec": {"interactive": False}}
    assert (arguments, variable) == ("get token", "hello")


def test_a_plugin_is_told_of_the_cluster_if_it_wants_to(program: Program) -> None:
    program.answers({"token": SECRET})
    program.plugin(provide_cluster_info=True).read(rejected=False)
    assert json.loads(program.told[0])["spec"] == {"interactive": False, "cluster": {"server": "https://host"}}


def test_a_plugin_sees_the_environment_of_the_process(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", "from outside")
    program.answers({"token": SECRET})
    program.plugin().read(rejected=False)
    assert program.told[2] == "from outside"


def test_an_answer_may_be_yaml(program: Program) -> None:
    program.writes(f"apiVersion: {V1}\nkind: ExecCredential\nstatus:\n  token: abc\n  clientKeyData: null\n")
    assert program.plugin().read(rejected=False).authorization == "Bearer abc"


def test_certificates_are_answers_too(program: Program, authority: Any) -> None:
    mine = authority.issue("me")
    program.answers({"clientCertificateData": mine.certificate.decode(), "clientKeyData": mine.key.decode()})
    proof = program.plugin().read(rejected=False)
    assert (proof.authorization, proof.certificate, proof.key) == ("", mine.certificate, mine.key)


KEY = "-----BEGIN PRIVATE KEY-----\ns3cr3t\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("sentence", "answer", "expected"),
    [
        ("no document", "s3cr3t", "PLUGIN did not write an ExecCredential (VERSION) to its standard output"),
        ("nothing", "", "PLUGIN did not write an ExecCredential (VERSION) to its standard output"),
        (
            "a number for a token",
            {"status": {"token": 5}},
            "PLUGIN did not write an ExecCredential (VERSION) to its standard output",
        ),
        (
            "another version",
            {"apiVersion": V1BETA1, "status": {"token": SECRET}},
            "PLUGIN is configured to use VERSION, but answered in another version or kind",
        ),
        (
            "another kind",
            {"kind": "Pod", "status": {"token": SECRET}},
            "PLUGIN is configured to use VERSION, but answered in another version or kind",
        ),
        ("no status", {}, "the answer of PLUGIN has no status"),
        (
            "an empty status",
            {"status": {}},
            "the answer of PLUGIN has neither a token nor a certificate with its key",
        ),
        (
            "a key alone",
            {"status": {"clientKeyData": KEY, "token": SECRET}},
            "the answer of PLUGIN has only a certificate or only a key, not both",
        ),
        (
            "a certificate that is none",
            {"status": {"clientCertificateData": SECRET, "clientKeyData": KEY}},
            "clientCertificateData in the answer of PLUGIN holds no PEM certificate (-----BEGIN CERTIFICATE-----)",
        ),
        (
            "a token of two lines",
            {"status": {"token": f"{SECRET}\n{SECRET}"}},
            "the token holds characters that no token has; is it one line of text?",
        ),
        (
            "an expiry that is none",
            {"status": {"token": SECRET, "expirationTimestamp": "tomorrow"}},
            "PLUGIN did not write an ExecCredential (VERSION) to its standard output",
        ),
    ],
)
def test_answers_that_make_no_sense(sentence: str, answer: Any, expected: str, program: Program) -> None:
    if isinstance(answer, str):
        program.writes(answer)
    else:
        program.writes(json.dumps({"apiVersion": V1, "kind": "ExecCredential", **answer}))
    with pytest.raises(CredentialsError) as caught:
        program.plugin().read(rejected=False)
    words = expected.replace("PLUGIN", str(program.path)).replace("VERSION", V1)
    assert str(caught.value) == f"exec: {words}", sentence
    assert SECRET not in str(caught.value)


def test_a_program_that_is_not_there_comes_with_a_hint(program: Program) -> None:
    hint = "Install it:\n\n\x1b[1m  brew install foo-cli\n"
    with pytest.raises(CredentialsError) as caught:
        program.plugin(command="foo-cli-of-nobody", install_hint=hint).read(rejected=False)
    assert str(caught.value) == ("exec: executable foo-cli-of-nobody not found; Install it: [1m brew install foo-cli")
    with pytest.raises(CredentialsError, match=r"exec: executable foo-cli-of-nobody not found$"):
        program.plugin(command="foo-cli-of-nobody").read(rejected=False)


def test_a_program_that_fails_or_cannot_be_run(program: Program, tmp_path: Path) -> None:
    program.runs(f"echo {SECRET}; exit 3")
    with pytest.raises(CredentialsError, match=r"exec: executable .*/plugin failed with exit code 3$"):
        program.plugin().read(rejected=False)
    file = tmp_path / "document"
    file.write_text("no program")
    with pytest.raises(CredentialsError, match=r"exec: .*/document cannot be run: Permission denied$"):
        program.plugin(command=str(file)).read(rejected=False)


def test_a_program_that_writes_without_end_is_ended(program: Program) -> None:
    program.runs(f"exec yes {SECRET}")
    with pytest.raises(CredentialsError, match=r"^exec: .*/plugin wrote more than 1 MiB to its standard output$"):
        program.plugin().read(rejected=False)


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000])
def test_an_answer_that_is_nested_without_end_makes_no_sense(text: str, program: Program) -> None:
    program.writes(text)
    with pytest.raises(CredentialsError, match="did not write an ExecCredential"):
        program.plugin().read(rejected=False)


def test_a_program_that_closes_its_output_and_goes_on_is_ended(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubesched.client.credentials.exec_plugin.LONGEST_RUN_SECONDS", 0.2)
    program.runs("exec sleep 60 >&-")
    with pytest.raises(CredentialsError, match=r"plugin did not end within 0\.2 s"):
        program.plugin().read(rejected=False)


def test_a_program_that_hangs_is_ended(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.client.credentials.exec_plugin.LONGEST_RUN_SECONDS", 0.2)
    program.runs("exec sleep 60")
    began = time.monotonic()
    with pytest.raises(CredentialsError, match=r"plugin did not end within 0\.2 s"):
        program.plugin().read(rejected=False)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("mode", "terminal", "expected"),
    [
        ("Never", True, False),
        ("IfAvailable", True, True),
        ("IfAvailable", False, False),
        ("Always", True, True),
        ("", False, False),
    ],
)
def test_whether_a_plugin_may_ask_a_person(
    mode: str, terminal: bool, expected: bool, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubesched.client.credentials.exec_plugin._has_terminal", lambda: terminal)
    program.answers({"token": SECRET})
    program.plugin(interactive_mode=mode).read(rejected=False)
    assert json.loads(program.told[0])["spec"]["interactive"] is expected


def test_a_plugin_that_must_ask_a_person_where_there_is_none(program: Program) -> None:
    with pytest.raises(CredentialsError, match="interactiveMode is Always, but standard input is not a terminal"):
        program.plugin(interactive_mode="Always").read(rejected=False)
    assert program.count == 0


# -- as a client uses it


def test_requests_wait_for_the_plugin_and_the_loop_does_not(program: Program, eventually: Any) -> None:
    async def play() -> None:
        program.answers({"token": SECRET})
        gate = program.path.with_name("gate")
        program.runs(f"while [ ! -e {gate} ]; do sleep 0.01; done; cat {program.path}.answer")
        credentials = Credentials(PemSource(), [program.plugin()], secure=False)
        request = asyncio.ensure_future(credentials.headers())
        await eventually(lambda: program.count == 1)
        assert not request.done()
        gate.touch()
        assert (await request)["Authorization"] == f"Bearer {SECRET}"

    asyncio.run(play())


def test_a_client_has_its_token_renewed_after_a_refusal(program: Program, serving: Any) -> None:
    async def play() -> None:
        asked: list[str] = []

        async def handler(request: web.Request) -> web.Response:
            asked.append(request.headers["Authorization"])
            return web.Response(status=200 if asked[-1] == "Bearer second" else 401)

        program.answers({"token": "first"})
        credentials = Credentials(PemSource(), [program.plugin()], secure=False)
        async with serving(handler) as server:
            rest = RestClient(RestConfig(server, credentials.headers, rejected=credentials.rejected), "test")
            await credentials.headers()
            program.answers({"token": "second"})
            await rest.get("/")
            await rest.close()
        assert asked == ["Bearer first", "Bearer second"]

    asyncio.run(play())


def test_from_a_kubeconfig_to_a_client_certificate_that_is_replaced(
    program: Program,
    serving: Any,
    authority: Any,
    kubeconfig: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kubesched.client.credentials.sources.PAUSE_SECONDS", 0.0)

    def status_of(mine: Any) -> dict[str, str]:
        return {"clientCertificateData": mine.certificate.decode(), "clientKeyData": mine.key.decode()}

    async def who(request: web.Request) -> web.Response:
        assert request.transport is not None
        certificate = request.transport.get_extra_info("peercert")
        if not certificate:
            return web.Response(status=401)
        name = dict(part[0] for part in certificate["subject"])["commonName"]
        return web.Response(text=name, status=401 if name == "retired" else 200)

    async def play() -> None:
        async with serving(who, authority.serving(tmp_path)) as server:
            cluster = {
                "server": server,
                "certificate-authority-data": base64.b64encode(authority.certificate).decode(),
                "tls-server-name": "server.test",
                "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}],
            }
            user = {
                "exec": {
                    "command": "./plugin",
                    "apiVersion": V1BETA1,
                    "provideClusterInfo": True,
                    "args": None,
                    "env": [{"name": "GREETING", "value": "hi"}],
                }
            }
            rest = RestClient(load_rest_config(kubeconfig(user, cluster), environment={}), "test")
            program.answers(status_of(authority.issue("retired")), V1BETA1)
            with pytest.raises(Refused, match="does not accept the credentials"):
                await rest.get("/")
            assert program.count == 2, "it was asked whether there is something better"
            program.answers(status_of(authority.issue("successor")), V1BETA1)
            assert await rest.get("/") == b"successor"
            assert program.count == 3
            await rest.close()
            assert json.loads(program.told[0]) == {
                "kind": "ExecCredential",
                "apiVersion": V1BETA1,
                "spec": {
                    "interactive": False,
                    "cluster": {
                        "server": server,
                        "tls-server-name": "server.test",
                        "certificate-authority-data": base64.b64encode(authority.certificate).decode(),
                        "config": {"audience": "a"},
                    },
                },
            }
            assert program.told[2] == "hi"

    asyncio.run(play())
