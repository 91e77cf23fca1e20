"""Decisions are read from a scheduler over TLS; whatever goes wrong is a gap with one line."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.support.serving import Authority, Facts, FakeApi, Served, served

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.serving.decisions.page import PATH
from kubesched.serving.decisions.ring import DecisionRing, RingEntry
from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.routes import Pages
from kubesched.sources import scheduler_records
from kubesched.sources.scheduler_records import (
    NO_PAGE,
    UNCERTAIN,
    SchedulerAddress,
    read_api_server,
    read_records,
    read_scheduler,
)


class Remembering(Facts):
    """A scheduler that remembers two decisions about one pod; or none at all."""

    remembers = True

    def pages(self) -> Pages:
        ring = DecisionRing(1 << 20, now=lambda: 100.0)
        for at in (1.0, 2.0):
            ring.add(RingEntry(at, "default", "p", "uid-p", "bound", node=f"n{at:g}"))
        ring.add(RingEntry(3.0, "default", "other", "uid-other", "bound"))
        return msgspec.structs.replace(super().pages(), decisions=ring if self.remembers else None)


class Forgetful(Remembering):
    """A scheduler without a record."""

    remembers = False


class Place(NamedTuple):
    """A scheduler, and the files of its clients."""

    scheduler: Served
    folder: Path

    def address(self, **more: str) -> SchedulerAddress:
        files = {"authority": str(self.folder / "ca.crt"), "token_file": str(self.folder / "anna")}
        return SchedulerAddress(f"https://127.0.0.1:{self.scheduler.server.port}", **{**files, **more})


@pytest.fixture(scope="module", params=[Remembering])
def place(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Place]:
    yield from a_place(tmp_path_factory.mktemp("scheduler"), request.param())


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    yield from a_place(tmp_path_factory.mktemp("forgetful"), Forgetful())


def a_place(folder: Path, facts: Facts) -> Iterator[Place]:
    authority = Authority("servers")
    (folder / "ca.crt").write_bytes(authority.certificate)
    (folder / "other-ca.crt").write_bytes(Authority("others").certificate)
    for name in ("anna", "ben", "nobody"):
        (folder / name).write_text(f"of-{name}")
    certificate, key = authority.issue("", usage="server", hosts=["127.0.0.1"]).write(folder, "serving")
    viewer = authority.issue("anna").write(folder, "client")
    api = FakeApi()
    api.tokens = {"of-anna": {"username": "anna"}, "of-ben": {"username": "ben"}}
    api.allowed = {("anna", PATH)}
    options = ServingOptions(tls_cert_file=certificate, tls_private_key_file=key, client_ca_file=str(folder / "ca.crt"))
    assert viewer
    with served(options, api, facts) as found:
        yield Place(found, folder)


def test_decisions_of_the_pod_are_read_with_a_token(place: Place) -> None:
    records = read_scheduler(place.address(), None, "default/p")
    assert records.gap is None
    assert [record.node for record in records.decisions] == ["n2", "n1"]
    assert (records.now, records.since) == (records.now, records.decisions[-1].time)
    assert len(records.of("uid-p")) == 2
    assert records.of("another pod of the name") == ()


def test_decisions_are_read_with_a_certificate(place: Place) -> None:
    files = {"certificate": str(place.folder / "client.crt"), "key": str(place.folder / "client.key")}
    assert len(read_scheduler(place.address(token_file="", **files), None, "default/p").decisions) == 2


GAPS: dict[str, tuple[dict[str, str], str]] = {
    "a user who may not": (
        {"token_file": "ben"},
        '403: forbidden: User "ben" cannot get path "/debug/decisions"',
    ),
    "a token that nobody has": ({"token_file": "nobody"}, "401: Unauthorized"),
    "a certificate of an unknown authority": (
        {"authority": "other-ca.crt"},
        "give its CA certificate with --scheduler-ca",
    ),
    "a token file that is not there": ({"token_file": "none"}, "--scheduler-token-file"),
    "an authority that is not there": ({"authority": "none.crt"}, "--scheduler-ca: cannot read"),
}


@pytest.mark.parametrize("case", GAPS)
def test_what_cannot_be_read_is_a_gap(place: Place, case: str) -> None:
    files, said = GAPS[case]
    records = read_scheduler(
        place.address(**{name: str(place.folder / file) for name, file in files.items()}), None, "default/p"
    )
    assert records.decisions == ()
    assert records.gap is not None
    assert said in records.gap.why
    assert records.gap.what == f"decisions of the scheduler at {place.address().url}"
    assert records.gap.uncertain == UNCERTAIN
    assert "\n" not in records.gap.why


def test_a_scheduler_without_a_record_is_a_gap_that_says_so(forgetful: Place) -> None:
    records = read_scheduler(forgetful.address(), None, "default/p")
    assert records.gap is not None
    assert records.gap.why == NO_PAGE.replace("\n", " ")


def test_nobody_at_the_address_is_a_gap(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = SchedulerAddress(f"https://127.0.0.1:{port}", str(place.folder / "ca.crt"))
    records = read_scheduler(address, None, "default/p")
    assert records.gap is not None
    assert f"127.0.0.1:{port}" in records.gap.why


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        (SchedulerAddress("http://127.0.0.1:10259"), "http://127.0.0.1:10259 is not a URL such as"),
        (SchedulerAddress("scheduler"), "scheduler is not a URL such as https://127.0.0.1:10259"),
        (SchedulerAddress("https://a:b"), "https://a:b is not a URL such as"),
        (SchedulerAddress("https://a", certificate="c"), "give a client certificate and its key together"),
        (SchedulerAddress("https://a:1"), ""),
    ],
)
def test_an_address_says_what_is_wrong_with_it(address: SchedulerAddress, problem: str) -> None:
    assert address.problem.startswith(problem)
    assert bool(address.problem) == bool(problem)


# -- with the credentials of a kubeconfig


def kubeconfig(place: Place, token: str) -> Any:
    text = f"""
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: {place.address().url}, certificate-authority: {place.folder}/ca.crt}}}}]
users: [{{name: me, user: {{token: {token}}}}}]
"""
    (place.folder / "config").write_text(text)
    return load_rest_config(str(place.folder / "config"))


def test_a_scheduler_that_does_not_answer_is_named_as_such(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_records, "SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        by_flags = read_scheduler(SchedulerAddress(url, str(place.folder / "ca.crt")), None, "default/p")
        by_kubeconfig = read_scheduler(SchedulerAddress(url), kubeconfig(place, "of-anna"), "default/p")
    for records in (by_flags, by_kubeconfig):
        assert records.gap is not None
        assert records.gap.why == "the scheduler did not answer in time"


def test_the_credentials_of_the_kubeconfig_are_sent_to_the_scheduler(place: Place) -> None:
    source = ClusterObjects((), server=kubeconfig(place, "of-anna"))
    for authority in ("", str(place.folder / "ca.crt")):
        records = read_records(source, "default/p", place.address(token_file="", authority=authority))
        assert records is not None
        assert len(records.decisions) == 2


def test_an_api_server_is_asked_without_being_named_and_nothing_is_said_if_it_knows_nothing(
    place: Place, forgetful: Place
) -> None:
    # the API server of `kubesched up` has the same page
    found = read_api_server(kubeconfig(place, "of-anna"), "default/p")
    assert found is not None
    assert len(found.decisions) == 2
    assert read_api_server(kubeconfig(place, "of-ben"), "default/p") is None
    assert read_api_server(kubeconfig(forgetful, "of-anna"), "default/p") is None
    assert read_records(ClusterObjects(()), "default/p") is None
