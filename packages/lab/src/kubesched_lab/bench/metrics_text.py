"""The attempts in a scheduler's /metrics.

From two texts to the attempts between them: their number by result, and percentiles of their durations, interpolated
from a histogram as Prometheus does.
"""

from collections import defaultdict

from prometheus_client.parser import text_string_to_metric_families

from kubesched_lab.bench.figures import Spread
from kubesched_lab.bench.target import AttemptFigures

_ATTEMPTS = "scheduler_schedule_attempts"
_DURATION = "scheduler_scheduling_attempt_duration_seconds"


class AttemptMetrics:
    """The metrics of attempts at one moment."""

    def __init__(self, text: str) -> None:
        self.results: dict[str, float] = defaultdict(float)
        self.buckets: dict[float, float] = defaultdict(float)
        self.sum = self.count = 0.0
        wanted = "\n".join(line for line in text.splitlines() if _ATTEMPTS in line or _DURATION in line)
        for family in text_string_to_metric_families(wanted + "\n"):
            for sample in family.samples:
                if sample.name == f"{_ATTEMPTS}_total":
                    self.results[sample.labels.get("result", "")] += sample.value
                elif sample.name == f"{_DURATION}_bucket":
                    self.buckets[float(sample.labels["le"])] += sample.value
                elif sample.name == f"{_DURATION}_sum":
                    self.sum += sample.value
                elif sample.name == f"{_DURATION}_count":
                    self.count += sample.value

    def since(self, before: "AttemptMetrics") -> AttemptFigures:
        """Return the attempts since another moment."""
        results = {
            result: round(count - before.results[result])
            for result, count in self.results.items()
            if count > before.results[result]
        }
        count = self.count - before.count
        if count <= 0:
            return AttemptFigures(results)
        buckets = sorted((bound, each - before.buckets[bound]) for bound, each in self.buckets.items())
        shares = (quantile(buckets, share) * 1000 for share in (0.5, 0.9, 0.95, 0.99))
        return AttemptFigures(results, Spread(1000 * (self.sum - before.sum) / count, *shares))


def quantile(buckets: list[tuple[float, float]], share: float) -> float:
    """Return a quantile of a histogram: cumulative counts by upper bound, in order."""
    rank, below, under = share * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= rank:
            if bound == float("inf"):
                return under
            return under + (bound - under) * (rank - below) / max(count - below, 1e-12)
        below, under = count, bound
    return under
