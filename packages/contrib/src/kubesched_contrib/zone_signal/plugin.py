"""The plugin: a signal that is fetched on an interval, and scores by it.

From the values of zones, by a node label, to scores: the lowest value of the feasible nodes gets 100 and the highest
0, or the reverse. A node whose zone has no value, or a stale one, gets 0.
"""

import asyncio
import logging
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    Background,
    ClusterView,
    CycleState,
    HttpAnswer,
    HttpClient,
    HttpError,
    Nodes,
    PluginMetrics,
    PodInfo,
    Reads,
    Registration,
    ScorePlugin,
)
from kubesched_contrib.zone_signal.arguments import ZONE, ZoneSignalArgs
from kubesched_contrib.zone_signal.json_values import number_at, values_by_zone

MAX_SCORE = 100
# raw scores are millionths of the signal's unit, and without a value the lowest
UNIT = 1e6
MOST = 2**53
UNKNOWN = -(2**60)
# how long pods wait for the first signal
FIRST_SECONDS = 5


class ZoneSignal(ScorePlugin):
    """Scores nodes by the signal of their zone."""

    name = "ZoneSignal"
    in_range = True
    score_key_of_template = True

    def __init__(
        self,
        args: ZoneSignalArgs,
        cluster: ClusterView,
        background: Background,
        http: HttpClient,
        log: logging.Logger,
        metrics: PluginMetrics,
    ) -> None:
        self._args = args
        self._http = http
        self._log = log
        self._headers = dict(args.headers)
        if args.token:
            self._headers["Authorization"] = f"Bearer {args.token}"
        # by the source's name of a zone: its value, and when it was fetched
        self._values: dict[str, tuple[float, float]] = {}
        self._raw_scores = cluster.computed_values(
            lambda nodes: nodes.by_label(args.topology_key, self._raw_score), reads=Reads.LABELS, default=UNKNOWN
        )
        self.score_reads = self._raw_scores.reads
        self._zones = metrics.gauge("zones", "Number of zones with a value that is not stale.")
        background.every(
            args.interval_seconds,
            self._look_up,
            self._apply,
            timeout_seconds=args.timeout_seconds * (len(args.zones) + 1),
            wait_seconds=FIRST_SECONDS,
        )
        background.timer(max(min(args.stale_after_seconds / 10, 60.0), 1.0), self._drop_stale)

    def events_to_register(self) -> tuple[Registration, ...]:
        """Return no events: a score rejects no pod."""
        return ()

    def score_key(self, pod: PodInfo) -> str:
        """Return no key: the score depends on nodes alone."""
        return ""

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the signal of each node's zone, negative where low values are preferred."""
        scores: NDArray[np.int64] = nodes.values_of(self._raw_scores)
        return scores

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 100 for the best value and 0 for the worst or without one; 100 if all are equal."""
        known = scores > UNKNOWN
        best, worst = scores.max(initial=UNKNOWN), scores[known].min(initial=-UNKNOWN)
        if best <= worst:
            return np.where(known, MAX_SCORE, 0)
        above = np.where(known, scores, worst) - worst
        return np.where(known, MAX_SCORE * above // (best - worst), 0)

    def _raw_score(self, label: str | None) -> int:
        value = None if label is None else self._values.get(self._args.zones.get(label, label))
        if value is None:
            return UNKNOWN
        amount = round(max(min(value[0] * UNIT, MOST), -MOST))
        return amount if self._args.prefer == "High" else -amount

    # -- the request

    async def _look_up(self) -> dict[str, float]:
        """Return the values of zones; raises HttpError if there is none."""
        if ZONE not in self._args.url:
            return await self._ask_about_all()
        values, failures = {}, []
        for zone in dict.fromkeys(self._args.zones.values()):
            try:
                values[zone] = await self._ask_about(zone)
            except HttpError as error:
                failures.append(str(error))
        if not values:
            raise HttpError(failures[0])
        if failures:
            self._log.warning("Zones without a signal", extra={"zones": len(failures), "err": failures[0]})
        return values

    async def _ask_about_all(self) -> dict[str, float]:
        args, answer = self._args, await self._get(self._args.url)
        try:
            found = values_by_zone(answer.json(), args.path, args.name_path, args.value_path)
        except ValueError as error:
            raise HttpError(f"{answer.url}: the response does not match the arguments: {error}") from None
        if not found:
            raise HttpError(f"{answer.url}: the response has no number at namePath and valuePath")
        return found

    async def _ask_about(self, zone: str) -> float:
        answer = await self._get(self._args.url.replace(ZONE, quote(zone, safe="")))
        value = number_at(answer.json(), self._args.value_path)
        if value is None:
            raise HttpError(f"{answer.url}: the response has no number at valuePath")
        return value

    async def _get(self, url: str) -> HttpAnswer:
        return await self._http.get(
            url,
            headers=self._headers,
            timeout_seconds=self._args.timeout_seconds,
            insecure_skip_verify=self._args.insecure_skip_verify,
        )

    def _apply(self, values: dict[str, float]) -> None:
        now = asyncio.get_running_loop().time()
        for zone, value in values.items():
            self._values[zone] = (value, now)
        self._raw_scores.recompute()
        self._drop_stale()

    def _drop_stale(self) -> None:
        """Drop values that have not been renewed for too long."""
        oldest = asyncio.get_running_loop().time() - self._args.stale_after_seconds
        stale = [zone for zone, (_, renewed_at) in self._values.items() if renewed_at < oldest]
        for zone in stale:
            del self._values[zone]
        if stale:
            self._raw_scores.recompute()
            seconds = f"{self._args.stale_after_seconds:g}"
            self._log.warning(f"Signals are older than {seconds} seconds and dropped", extra={"zones": sorted(stale)})
        self._zones.set(len(self._values))
