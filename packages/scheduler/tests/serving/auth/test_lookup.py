"""Whom to believe as a cluster says it: the ConfigMap kube-system/extension-apiserver-authentication."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.serving import Authority, FakeApi, RefusedError, Served, served

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.serving.auth.lookup import LOOK_EVERY_SECONDS, PATH, Lookup
from kubesched.serving.options import ServingError, ServingOptions

ADMIN = {"X-Remote-User": "carol", "X-Remote-Group": "system:masters"}


def data_of(identities: Any) -> dict[str, str]:
    return {
        "client-ca-file": identities.authority.certificate.decode(),
        "requestheader-client-ca-file": identities.proxies.certificate.decode(),
        "requestheader-allowed-names": json.dumps(["front-proxy"]),
        "requestheader-username-headers": json.dumps(["X-Remote-User"]),
        "requestheader-group-headers": json.dumps(["X-Remote-Group"]),
        "requestheader-extra-headers-prefix": json.dumps(["X-Remote-Extra-"]),
    }


def soon(found: Served, code: int, headers: dict[str, str], identity: tuple[str, str]) -> bool:
    """Return whether an answer has a code before long: what is looked up is looked up while others are served."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found.fetch("/metrics", headers, identity=identity).code == code:
            return True
    return False


def test_certificates_and_proxies_are_believed_by_the_clusters_word(identities: Any) -> None:
    api = FakeApi()
    api.data = data_of(identities)
    with served(api=api) as found:
        assert soon(found, 200, {}, identities("admin"))
        assert found.fetch("/metrics", ADMIN, identity=identities("proxy")).code == 200
        assert found.fetch("/metrics", ADMIN, identity=identities("other-proxy")).code == 401
        assert found.fetch("/metrics", identity=identities("foreign")).code == 401
    assert api.closed


def test_a_file_is_before_the_clusters_word(identities: Any, tmp_path: Any) -> None:
    other = Authority("other")
    (tmp_path / "ca.crt").write_bytes(other.certificate)
    admin = other.issue("admin", ["system:masters"]).write(tmp_path, "admin")
    api = FakeApi()
    api.data = data_of(identities)
    with served(ServingOptions(client_ca_file=str(tmp_path / "ca.crt")), api) as found:
        assert soon(found, 200, ADMIN, identities("proxy")), "proxies are looked up"
        assert found.fetch("/metrics", identity=admin).code == 200
        assert found.fetch("/metrics", identity=identities("admin")).code == 401


def test_nothing_is_looked_up_if_that_is_not_wanted(identities: Any) -> None:
    api = FakeApi()
    api.data = data_of(identities)
    with served(ServingOptions(authentication_skip_lookup=True), api) as found:
        assert found.fetch("/metrics", identity=identities("admin")).code == 403
    assert api.count(PATH) == 0


def test_a_lookup_that_has_to_succeed() -> None:
    api = FakeApi()
    api.broken = RefusedError(403, 'configmaps is forbidden: User "x" cannot get resource')
    options = ServingOptions(authentication_tolerate_lookup_failure=False)
    with pytest.raises(ServingError) as raised, served(options, api):
        pass
    assert str(raised.value) == (
        'configmap kube-system/extension-apiserver-authentication: configmaps is forbidden: User "x" cannot get '
        "resource (bind the role extension-apiserver-authentication-reader in kube-system to this user)"
    )
    assert api.closed


def test_a_cluster_without_the_configmap_is_no_error() -> None:
    with served(ServingOptions(authentication_tolerate_lookup_failure=False), FakeApi()) as found:
        assert found.fetch("/healthz").code == 200


# -- over time


def watched(api: FakeApi, story: Callable[[Lookup, list[str]], Any]) -> None:
    """Have a story happen while the ConfigMap is looked at, in virtual time."""
    notes: list[str] = []

    async def both() -> None:
        lookup = Lookup(api, notes.append)
        looking = asyncio.ensure_future(lookup.run())
        try:
            await story(lookup, notes)
        finally:
            looking.cancel()

    run_in_virtual_time(both())


def test_it_is_tried_until_it_is_found_and_then_every_minute(identities: Any) -> None:
    api = FakeApi()
    api.broken = RefusedError(0, "connection refused")

    async def story(lookup: Lookup, notes: list[str]) -> None:
        await asyncio.sleep(6)
        assert api.count(PATH) == 3, "after 0, 1 and 3 seconds"
        assert len(notes) == 1, "the same trouble is told once"
        assert "connection refused" in notes[0]
        api.broken, api.data = None, data_of(identities)
        await asyncio.sleep(10)
        assert lookup.client_authorities is not None
        assert lookup.front_proxy is not None
        tried = api.count(PATH)
        await asyncio.sleep(LOOK_EVERY_SECONDS - 10)
        assert api.count(PATH) == tried
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        assert api.count(PATH) == tried + 1

    watched(api, story)


def test_what_changes_is_used_and_what_is_broken_is_not(identities: Any) -> None:
    api = FakeApi()
    api.data = data_of(identities)

    async def story(lookup: Lookup, notes: list[str]) -> None:
        await asyncio.sleep(1)
        authorities, proxy = lookup.client_authorities, lookup.front_proxy
        api.data = {
            **data_of(identities),
            "client-ca-file": "garbage",
            "requestheader-allowed-names": "not a list",
        }
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        assert lookup.client_authorities is authorities
        assert lookup.front_proxy is proxy
        assert [note.partition(",")[2] for note in notes] == [
            " client-ca-file: holds no PEM certificate (-----BEGIN CERTIFICATE-----); the last valid version is used",
            " requestheader-allowed-names: expected a list of texts in JSON; the last valid version is used",
        ]
        new = Authority("new")
        api.data = {**data_of(identities), "client-ca-file": new.certificate.decode()}
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        assert lookup.client_authorities is not authorities
        api.data = None
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        assert lookup.client_authorities is not None, "a ConfigMap that is gone takes nothing away"

    watched(api, story)
