"""Sources of load metrics: load-watcher, the Kubernetes metrics API, Prometheus.

In: the arguments of a plugin. Out: a coroutine that returns `NodeLoads`, or raises HttpError, which names the address
and no secret.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

from kubesched import HttpClient, HttpError
from kubesched_contrib.trimaran.arguments import DEFAULT_PROMETHEUS, PROMETHEUS, MetricProviderSpec, TrimaranArgs
from kubesched_contrib.trimaran.node_loads import (
    AVERAGE,
    CPU,
    DEVIATION,
    MEMORY,
    NodeLoads,
    add_from_prometheus,
    from_load_watcher,
    from_metrics_api,
)

T = TypeVar("T")

METRICS_API = "/apis/metrics.k8s.io/v1beta1/nodes"
# load-watcher may have to query its provider first
WATCHER_SECONDS = 50.0
QUERY_SECONDS = 10.0
# recording rules of kube-prometheus
RATIOS = {CPU: "instance:node_cpu:ratio", MEMORY: "instance:node_memory_utilisation:ratio"}
FUNCTIONS = {AVERAGE: "avg_over_time", DEVIATION: "stddev_over_time"}
WINDOW = "15m"

LoadSource = Callable[[], Awaitable[NodeLoads]]


def load_source(args: TrimaranArgs, http: HttpClient) -> LoadSource:
    """Return the source for some arguments."""
    if args.watcher_address:
        return lambda: _ask_load_watcher(args.watcher_address, http)
    if args.metric_provider.type == PROMETHEUS:
        return lambda: _ask_prometheus(args.metric_provider, http)
    return lambda: _ask_metrics_api(http)


def is_absolute(args: TrimaranArgs) -> bool:
    """Return whether the source reports absolute usage instead of a share of the capacity."""
    return not args.watcher_address and args.metric_provider.type != PROMETHEUS


async def _ask_load_watcher(address: str, http: HttpClient) -> NodeLoads:
    answer = await http.get(f"{address.rstrip('/')}/watcher", timeout_seconds=WATCHER_SECONDS)
    return _understood(answer.url, from_load_watcher, answer.json())


async def _ask_metrics_api(http: HttpClient) -> NodeLoads:
    return _understood(METRICS_API, from_metrics_api, await http.get_from_api_server(METRICS_API))


async def _ask_prometheus(provider: MetricProviderSpec, http: HttpClient) -> NodeLoads:
    address = (provider.address or DEFAULT_PROMETHEUS).rstrip("/")
    headers = {"Authorization": f"Bearer {provider.token}"} if provider.token else {}
    loads = NodeLoads(0.0)
    for statistic, function in FUNCTIONS.items():
        for resource, ratio in RATIOS.items():
            query = urlencode({"query": f"{function}({ratio}[{WINDOW}])"})
            answer = await http.get(
                f"{address}/api/v1/query?{query}",
                headers=headers,
                timeout_seconds=QUERY_SECONDS,
                insecure_skip_verify=provider.insecure_skip_verify,
            )
            _understood(answer.url, partial(add_from_prometheus, loads, resource, statistic), answer.json())
    return loads


def _understood(where: str, read: Callable[[Any], T], document: Any) -> T:
    """Return the parsed document; raises HttpError if it has another form."""
    try:
        return read(document)
    except ValueError as error:
        raise HttpError(f"{where}: unexpected response: {error}") from None
