"""Metrics of plugins: counters, gauges and histograms of the Prometheus client library, under the plugin's name.

From a plugin's constructor (parameter `metrics`) to /metrics. A metric exists once in a process, however many profiles
have the plugin.
"""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from prometheus_client import Counter, Gauge, Histogram

from kubesched.errors import PluginError

M = TypeVar("M", Counter, Gauge, Histogram)

_known: dict[str, Any] = {}


class PluginMetrics:
    """Makes a plugin's metrics: `kubesched_plugin_<plugin>_<name>`."""

    def __init__(self, plugin: str) -> None:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plugin)
        self._prefix = "kubesched_plugin_" + re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_") + "_"

    def counter(self, name: str, description: str, labels: Sequence[str] = ()) -> Counter:
        """Return a counter; its name ends in `_total`."""
        return self._metric(Counter, name, description, labels)

    def gauge(self, name: str, description: str, labels: Sequence[str] = ()) -> Gauge:
        """Return a gauge."""
        return self._metric(Gauge, name, description, labels)

    def histogram(
        self, name: str, description: str, labels: Sequence[str] = (), *, buckets: Sequence[float] | None = None
    ) -> Histogram:
        """Return a histogram."""
        options = {} if buckets is None else {"buckets": tuple(buckets)}
        return self._metric(Histogram, name, description, labels, **options)

    def _metric(self, kind: type[M], name: str, description: str, labels: Sequence[str], **options: Any) -> M:
        full_name = self._prefix + name
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise PluginError(f"metric {name!r}: write names in lower case, with underscores between words")
        found = _known.get(full_name)
        if found is None:
            try:
                found = _known[full_name] = kind(full_name, description, tuple(labels), **options)
            except ValueError as error:
                raise PluginError(f"metric {name!r}: {error}") from None
        if not isinstance(found, kind):
            raise PluginError(f"metric {name!r} is a {type(found).__name__.lower()} already")
        return found
