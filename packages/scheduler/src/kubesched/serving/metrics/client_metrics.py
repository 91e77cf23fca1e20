"""Metrics of the client: requests to the API server, and leader election.

From the callbacks of a REST client and of leader election to the reference's families. The methods match the client's
protocols; neither room imports the other.
"""

# upstream: component-base/metrics/prometheus/{restclient,clientgo/leaderelection}/metrics.go (v1.36)

from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.registry import MetricRegistry

# the label in place of the status code of a request without a response
NOT_ANSWERED = "<error>"


class RequestMetrics:
    """Counts the requests to one host."""

    def __init__(self, registry: MetricRegistry, host: str) -> None:
        self._host = host
        self._requests = registry.family(catalog.REQUESTS)
        self._retries = registry.family(catalog.REQUEST_RETRIES)
        self._seconds = registry.family(catalog.REQUEST_DURATION)
        self._sent = registry.family(catalog.REQUEST_SIZE)
        self._received = registry.family(catalog.RESPONSE_SIZE)
        self._limited = registry.family(catalog.LIMITER_DURATION)

    def limited(self, verb: str, seconds: float) -> None:
        """Observe how long the rate limiter delayed a request."""
        self._limited.buckets(verb, self._host).observe(seconds)

    def answered(self, verb: str, code: int | None) -> None:
        """Count a response, or a request without one."""
        self._requests.number(NOT_ANSWERED if code is None else str(code), verb, self._host).value += 1

    def finished(self, verb: str, seconds: float, sent: int, received: int) -> None:
        """Observe the duration of a request, and the bytes each way; watches are left out."""
        self._seconds.buckets(verb, self._host).observe(seconds)
        self._sent.buckets(verb, self._host).observe(sent)
        self._received.buckets(verb, self._host).observe(received)

    def retried(self, verb: str, code: int | None) -> None:
        """Count a request that is sent again because of the last response."""
        self._retries.number(NOT_ANSWERED if code is None else str(code), verb, self._host).value += 1


class LeaderMetrics:
    """The metrics of leader election."""

    def __init__(self, registry: MetricRegistry) -> None:
        self._status = registry.family(catalog.MASTER_STATUS)
        self._slow_path = registry.family(catalog.SLOW_PATH)

    def leading(self, lease: str, *, leads: bool) -> None:
        """Set whether this process holds a lease."""
        self._status.number(lease).value = leads

    def slow_path(self, lease: str) -> None:
        """Count a renewal that had to read the lease first."""
        self._slow_path.number(lease).value += 1
