"""Fixtures for tests on clusters; pytest loads this module in every run of an environment with kubesched.

`cluster` is a whole cluster in virtual time. `kubernetes_cluster` is a process that serves the API to any client,
`kubernetes_namespace` a namespace in it; with `--kubesched-cluster` a whole session has one. All other modules are
imported when a fixture is first used.
"""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kubesched_controlplane.testing.cluster_process import ClusterProcess
    from kubesched_controlplane.testing.embedded_cluster import ClusterFactory, EmbeddedCluster

UP_OPTIONS = "kubesched_up"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the cluster."""
    group = parser.getgroup("kubesched", "a Kubernetes cluster for tests (kubesched)")
    group.addoption(
        "--kubesched-cluster", action="store_true", help="Start a cluster for all tests; KUBECONFIG leads to it."
    )
    group.addoption(
        "--kubesched-nodes",
        type=int,
        default=3,
        metavar="N",
        help="Number of nodes of the cluster; 3 by default, 0 for the nodes of FILES.",
    )
    words = "Options and FILES for `kubesched with-cluster`"
    group.addoption("--kubesched-up", default="", metavar="WORDS", help=f"{words}.")
    parser.addini(UP_OPTIONS, f"{words}, before those of --kubesched-up.", "args", [])


def pytest_configure(config: pytest.Config) -> None:
    """Start the cluster of a session, if the command line requests one."""
    if config.getoption("--kubesched-cluster"):
        from kubesched_controlplane.testing.session_cluster import SessionCluster

        config.pluginmanager.register(SessionCluster(_new_cluster(config)), SESSION)


# the name of the plugin that has the session's cluster
SESSION = "kubesched-session-cluster"


def _new_cluster(config: pytest.Config) -> "ClusterProcess":
    from kubesched_controlplane.testing.cluster_process import ClusterProcess

    try:
        words = shlex.split(config.getoption("--kubesched-up"))
    except ValueError as error:
        raise pytest.UsageError(f"--kubesched-up: {error}") from None
    return ClusterProcess(config.getoption("--kubesched-nodes"), [*config.getini(UP_OPTIONS), *words])


@pytest.fixture(scope="session")
def kubernetes_cluster(request: pytest.FixtureRequest) -> "Iterator[ClusterProcess]":
    """Return a cluster that is up until the session ends: its `kubeconfig`, and the address of its `server`."""
    session = request.config.pluginmanager.get_plugin(SESSION)
    if session is not None:
        yield session.cluster
        return
    with _new_cluster(request.config) as made:
        yield made


@pytest.fixture
def kubernetes_namespace(request: pytest.FixtureRequest, kubernetes_cluster: "ClusterProcess") -> Iterator[str]:
    """Return the name of a namespace that this test has for itself."""
    from kubesched_controlplane.testing.session_cluster import namespace_name

    name = namespace_name(request.node.name)
    kubernetes_cluster.create_namespace(name)
    yield name
    kubernetes_cluster.delete_namespace(name)


@pytest.fixture
def cluster() -> "Iterator[ClusterFactory]":
    """Return what makes an embedded cluster with plugins, in virtual time: then `put` objects and `settle`."""
    from kubesched_controlplane.testing.embedded_cluster import EmbeddedCluster

    with ExitStack() as stack:

        def make(*plugins: Any, **options: Any) -> "EmbeddedCluster":
            return stack.enter_context(EmbeddedCluster(*plugins, **options))

        yield make
