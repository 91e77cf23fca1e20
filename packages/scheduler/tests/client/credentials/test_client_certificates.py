"""Client certificates: they are loaded, and their keys are left nowhere."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from kubesched.client.credentials.tls import client_context


@pytest.mark.parametrize("memory", [True, False], ids=["files in memory", "no files in memory, as on macOS"])
def test_a_client_certificate_leaves_no_file(
    memory: bool, authority: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    identity = authority.issue("me")
    client_context(authority.certificate, identity.certificate, identity.key)
    assert list(tmp_path.iterdir()) == []
