"""Metrics of the client: requests to the API server, and who leads.

From what a REST client and leader election report to the reference's families. Both are told by methods that fit what
the client calls; neither room knows the other.
"""

# upstream: component-base/metrics/prometheus/{restclient,clientgo/leaderelection}/metrics.go (v1.36)

from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.registry import MetricRegistry

# what stands for the status code of a request that was not answered
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
        """Count how long a request waited for its turn."""
        self._limited.buckets(verb, self._host).observe(seconds)

    def answered(self, verb: str, code: int | None) -> None:
        """Count an answer, or that there was none."""
        self._requests.number(NOT_ANSWERED if code is None else str(code), verb, self._host).value += 1

    def finished(self, verb: str, seconds: float, sent: int, received: int) -> None:
        """Observe the duration of a request, and the bytes each way; watches are left out."""
        self._seconds.buckets(verb, self._host).observe(seconds)
        self._sent.buckets(verb, self._host).observe(sent)
        self._received.buckets(verb, self._host).observe(received)

    def retried(self, verb: str, code: int | None) -> None:
        """Count a request that is sent again because of the last answer."""
        self._retries.number(NOT_ANSWERED if code is None else str(code), verb, self._host).value += 1


class LeaderMetrics:
    """Shows whether this process leads."""

    def __init__(self, registry: MetricRegistry) -> None:
        self._status = registry.family(catalog.MASTER_STATUS)
        self._slow_path = registry.family(catalog.SLOW_PATH)

    def leading(self, lease: str, *, leads: bool) -> None:
        """Show that the process leads under a lease, or does not."""
        self._status.number(lease).value = leads

    def slow_path(self, lease: str) -> None:
        """Count a renewal that had to read the lease first."""
        self._slow_path.number(lease).value += 1
