"""A scheduler's recorded decisions, read from its /debug/decisions.

From the address of a scheduler, or of the API server of `kubesched up`, to the decisions about a pod. Every problem
is a gap: an explanation does not need them.
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kubesched import __version__
from kubesched.client.credentials.sources import NO_PEM, Credentials, Pem, PemSource, Source, TokenFile
from kubesched.client.rest import Refused, RestClient, RestConfig
from kubesched.errors import KubeschedError
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched.serving.decisions.page import PATH
from kubesched.serving.decisions.records import read_page
from kubesched.sources.own_loop import in_own_loop
from kubesched.sources.pod_records import PodRecords

SECONDS = 10.0
# limit on the decisions about one pod
MOST_DECISIONS = 20
PEER = "the scheduler"
# advice for problems with its certificate
ORIGIN = f"{PEER}: give its CA certificate with --scheduler-ca"
UNCERTAIN = "earlier decisions, the number of attempts, and the backoff of the pod"
NO_PAGE = f"it has no {PATH}: it is kube-scheduler or an older kubesched, or runs without --decision-record-memory=16Mi"


@dataclass(frozen=True, slots=True)
class SchedulerAddress:
    """The URL of a scheduler's pages, and the files with its CA certificate and with credentials.

    Without a token and a certificate, the credentials of the cluster's kubeconfig are sent. Without a CA certificate,
    that of the kubeconfig or else of the system is trusted.
    """

    url: str
    authority: str = ""
    token_file: str = ""
    certificate: str = ""
    key: str = ""

    @property
    def problem(self) -> str:
        """Return the problem of the address, an empty text if there is none."""
        try:
            parts = urlsplit(self.url)
            port = parts.port
        except ValueError:
            return f"{self.url} is not a URL such as https://127.0.0.1:10259"
        if parts.scheme != "https" or not parts.hostname or port == 0:
            return f"{self.url} is not a URL such as https://127.0.0.1:10259"
        if bool(self.certificate) != bool(self.key):
            return "give a client certificate and its key together"
        return ""


def read_records(source: ClusterObjects, pod: str, scheduler: SchedulerAddress | None = None) -> PodRecords | None:
    """Return the decisions about a pod, from the named scheduler or else from the cluster's API server.

    None if no scheduler is named, and the cluster is not one of `kubesched up`.
    """
    if scheduler is not None:
        return read_scheduler(scheduler, source.server, pod)
    return read_api_server(source.server, pod) if source.server is not None else None


def read_scheduler(address: SchedulerAddress, cluster: RestConfig | None, pod: str) -> PodRecords:
    """Return the decisions of a scheduler about a pod (`namespace/name`), with the credentials in `cluster`."""
    what = f"decisions of the scheduler at {address.url}"
    try:
        if address.problem:
            raise KubeschedError(address.problem)
        return in_own_loop(_read(config_of(address, cluster), pod))
    except Refused as refused:
        why = NO_PAGE if refused.code == 404 else f"{refused.code}: {refused}"
        return PodRecords(gap=Gap(what, why, UNCERTAIN))
    except (KubeschedError, ValueError) as error:
        return PodRecords(gap=Gap(what, str(error), UNCERTAIN))


def read_api_server(cluster: RestConfig, pod: str = "", limit: int = MOST_DECISIONS) -> PodRecords | None:
    """Return the decisions that the API server of `kubesched up` serves; None for another API server.

    Without a pod they are the latest decisions about any pod.
    """
    try:
        return in_own_loop(_read(cluster, pod, limit))
    except (KubeschedError, ValueError):
        return None


async def _read(target: RestConfig, pod: str, limit: int = MOST_DECISIONS) -> PodRecords:
    client = RestClient(target, f"kubesched/{__version__}", timeout_seconds=SECONDS)
    try:
        page = read_page(await client.get(PATH, {**({"pod": pod} if pod else {}), "limit": str(limit)}))
    finally:
        await client.close()
    return PodRecords(page.decisions, page.now, page.since)


def config_of(address: SchedulerAddress, cluster: RestConfig | None) -> RestConfig:
    """Return the connection to the scheduler."""
    own = bool(address.token_file or address.certificate)
    if cluster is not None and not own and not address.authority:
        server = address.url.rstrip("/")
        return msgspec.structs.replace(cluster, server=server, server_name=None, origin=ORIGIN, peer=PEER)
    pem = PemSource(
        authorities=_pem("--scheduler-ca", address.authority),
        certificate=_pem("--scheduler-certificate", address.certificate),
        key=_pem("--scheduler-key", address.key),
    )
    sources: list[Source] = []
    if address.token_file:
        sources.append(TokenFile(Path(address.token_file), "--scheduler-token-file"))
    credentials = Credentials(pem, sources)
    headers = credentials.headers if own or cluster is None else cluster.headers
    return RestConfig(address.url.rstrip("/"), headers, tls=credentials.tls, origin=ORIGIN, peer=PEER)


def _pem(option: str, path: str) -> Pem:
    return Pem(option, path=Path(path)) if path else NO_PEM
