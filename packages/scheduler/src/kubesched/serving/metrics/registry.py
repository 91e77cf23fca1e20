"""All metric families of a process, and the text that Prometheus fetches.

From metrics, created when they are first used, to one page, sorted by name. Metrics that plugins register with the
Prometheus client library are served along with them, as are its metrics of the process and the interpreter.
"""

# upstream: component-base/metrics/{registry,legacyregistry} (v1.36)

from collections import Counter
from collections.abc import Callable

from prometheus_client import REGISTRY, generate_latest
from prometheus_client.registry import Collector

from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import GAUGE, Family, Metric, Number
from kubesched.serving.metrics.options import MetricOptions


class MetricRegistry:
    """Families by name.

    `others` are collectors of the client library, by default all; `about_itself` adds metrics about the metrics.
    """

    def __init__(
        self,
        options: MetricOptions | None = None,
        others: Collector | None = REGISTRY,
        *,
        about_itself: bool = True,
    ) -> None:
        self._options = options or MetricOptions()
        self._others = others
        self._families: dict[str, Family] = {}
        self._before: list[Callable[[], None]] = []
        self._on_reset: list[Callable[[], None]] = []
        self._unexpected = Number()
        if about_itself:
            self._unexpected = self.family(catalog.UNEXPECTED_LABELS).number()
            self.family(catalog.HIDDEN)
            self.family(catalog.DISABLED).number().value = len(self._options.disabled)
            self._before.append(self._count_families)

    def family(self, metric: Metric) -> Family:
        """Return the family of a metric, always the same one."""
        known = self._families.get(metric.name)
        if known is None:
            allowed = self._options.allowed.get(metric.name, {})
            known = self._families[metric.name] = Family(metric, allowed, self._count_unexpected)
            if not metric.labels:
                # the only cell exists from the start
                known.bind()
        return known

    def before_text(self, update: Callable[[], None]) -> None:
        """Call `update` each time before the text is written."""
        self._before.append(update)

    def reset(self) -> None:
        """Reset counters and histograms to zero; gauges keep their values."""
        for family in list(self._families.values()):
            if family.metric.kind != GAUGE:
                family.reset()
        for clear in self._on_reset:
            clear()

    def on_reset(self, clear: Callable[[], None]) -> None:
        """Call `clear` on each reset, too."""
        self._on_reset.append(clear)

    def text(self) -> str:
        """Return all metrics as Prometheus text."""
        for update in list(self._before):
            update()
        own = "".join(line for family in self._served() for line in family.lines())
        return own if self._others is None else own + generate_latest(self._others).decode()

    def _served(self) -> list[Family]:
        return [family for name, family in sorted(self._families.items()) if name not in self._options.disabled]

    def _count_families(self) -> None:
        registered = self.family(catalog.REGISTERED)
        for stability, count in Counter(family.metric.stability for family in self._served()).items():
            registered.number(stability, "").value = count

    def _count_unexpected(self) -> None:
        self._unexpected.value += 1
