"""The clients of one process, each with its own rate limit, so that none delays another.

From the configuration to clients for scheduling, for events and for leader election.
"""

# upstream: cmd/kube-scheduler/app/options/options.go (createKubeConfig, createClients) (v1.36)

import platform

import msgspec

from kubesched import __version__
from kubesched.api.release import GIT_VERSION
from kubesched.client.credentials.rest_config import in_cluster_config, load_rest_config
from kubesched.client.rate_limiter import RateLimiter
from kubesched.client.rest import RequestWatcher, RestClient, RestConfig
from kubesched.common.notes import Note
from kubesched.config.types import ClientConnection
from kubesched.errors import KubeconfigError
from kubesched.run.go_flags import ParsedFlags

AGENT = f"kubesched/{__version__} ({platform.system().lower()}/{platform.machine()}) kubernetes/{GIT_VERSION}"


class Clients(msgspec.Struct, frozen=True):
    """The clients of the API server for scheduling and for events."""

    rest_config: RestConfig
    scheduling: RestClient
    events: RestClient

    async def close(self) -> None:
        """Close all connections."""
        await self.scheduling.close()
        await self.events.close()


def api_server(connection: ClientConnection, flags: ParsedFlags, note: Note) -> RestConfig:
    """Return the API server of the configuration or the flags; warn about an ignored --kubeconfig."""
    if connection.kubeconfig or flags["master"] or not (flags["config"] and flags["kubeconfig"]):
        return load_rest_config(connection.kubeconfig, flags["master"], note=note)
    ignored = (
        "--kubeconfig is ignored with --config, as in kube-scheduler: "
        f"write clientConnection.kubeconfig: {flags['kubeconfig']} into {flags['config']}"
    )
    try:
        found = in_cluster_config(note=note)
    except KubeconfigError:
        raise KubeconfigError(ignored) from None
    note(f"{ignored}. Using the service account of the pod.")
    return found


def connect(rest_config: RestConfig, connection: ClientConnection, watcher: RequestWatcher | None = None) -> Clients:
    """Return the clients for scheduling and events."""

    def limiter() -> RateLimiter:
        return RateLimiter(connection.qps, connection.burst)

    return Clients(
        rest_config,
        RestClient(rest_config, f"{AGENT}/scheduler", limiter=limiter(), watcher=watcher),
        RestClient(rest_config, AGENT, limiter=limiter(), watcher=watcher),
    )
