"""`pytest --kubesched-cluster`: a cluster for all tests of a session, in KUBECONFIG.

It runs from the start of a session, before tests are collected, to its end. With pytest-xdist each worker has its
own.
"""

import os
import re
import secrets
from contextlib import suppress

import pytest

from kubesched_controlplane.testing.cluster_process import ClusterProcess, ClusterProcessError

KUBECONFIG = "KUBECONFIG"
# names of namespaces have at most 63 characters
MOST_CHARACTERS = 48


class SessionCluster:
    """The hooks of pytest that start and end the cluster."""

    def __init__(self, cluster: ClusterProcess) -> None:
        self.cluster = cluster
        self._before: str | None = None
        self._is_up = False

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Start the cluster, unless this process runs no tests."""
        config = session.config
        distributes = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
        if distributes or config.getoption("collectonly"):
            return
        try:
            self.cluster.__enter__()
        except ClusterProcessError as error:
            raise pytest.UsageError(str(error)) from None
        self._before, self._is_up = os.environ.get(KUBECONFIG), True
        os.environ[KUBECONFIG] = str(self.cluster.kubeconfig)

    def pytest_unconfigure(self) -> None:
        """End the cluster."""
        self.cluster.end()
        if self._is_up:
            with suppress(KeyError):
                del os.environ[KUBECONFIG]
            if self._before is not None:
                os.environ[KUBECONFIG] = self._before

    def pytest_report_header(self) -> list[str]:
        """Return the line for the header of the session."""
        return [f"kubesched: {self.cluster.server}, {self.cluster.command}"] if self._is_up else []


def namespace_name(test: str) -> str:
    """Return a unique name for the namespace of a test."""
    words = re.sub("[^a-z0-9]+", "-", test.lower()).strip("-")[:MOST_CHARACTERS].strip("-")
    return f"{words or 'test'}-{secrets.token_hex(4)}"
