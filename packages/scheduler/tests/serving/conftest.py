"""Authorities and identities, made once: those that a scheduler believes, and others."""

from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.serving import Authority, Pair


class Identities(NamedTuple):
    """Certificates and keys in files, by what they are."""

    folder: Path
    authority: Authority
    proxies: Authority

    @property
    def client_ca(self) -> str:
        return str(self.folder / "client-ca.crt")

    @property
    def proxy_ca(self) -> str:
        return str(self.folder / "proxy-ca.crt")

    def __call__(self, name: str) -> tuple[str, str]:
        return str(self.folder / f"{name}.crt"), str(self.folder / f"{name}.key")


@pytest.fixture(scope="session")
def identities(tmp_path_factory: pytest.TempPathFactory) -> Identities:
    made = Identities(tmp_path_factory.mktemp("identities"), Authority("clients"), Authority("proxies"))
    between = Authority("between", by=made.authority)
    behind = between.issue("behind")
    pairs = {
        "viewer": made.authority.issue("viewer", ["developers", "operators"]),
        "admin": made.authority.issue("admin", ["system:masters"]),
        "without-usage": made.authority.issue("viewer", usage=""),
        "nameless": made.authority.issue("", ["developers"]),
        "expired": made.authority.issue("viewer", days=-1),
        "server": made.authority.issue("viewer", usage="server"),
        "foreign": Authority("clients").issue("admin", ["system:masters"]),
        "behind": Pair(behind.certificate + between.certificate, behind.key),
        "behind-alone": behind,
        "proxy": made.proxies.issue("front-proxy"),
        "other-proxy": made.proxies.issue("somebody"),
    }
    for name, pair in pairs.items():
        pair.write(made.folder, name)
    Path(made.client_ca).write_bytes(made.authority.certificate)
    Path(made.proxy_ca).write_bytes(made.proxies.certificate)
    return made
