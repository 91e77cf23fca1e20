"""Metrics of the process: version, feature gates, and the lag of the event loop.

From facts known at start to constant samples, and from a clock to one histogram.
"""

# upstream: component-base/metrics/prometheus/{version,feature,compatversion}/metrics.go (v1.36)

import asyncio
import platform
from typing import NoReturn

from kubesched.config.feature_gates import BINARY_VERSION, OLDEST_VERSION, FeatureGates
from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import Buckets
from kubesched.serving.metrics.registry import MetricRegistry

LAG_PERIOD_SECONDS = 1.0


def describe_process(registry: MetricRegistry, gates: FeatureGates, version: str, runs_on: str) -> None:
    """Set the metrics of the version (`v1.36.4`), the platform (`linux/amd64`) and all feature gates."""
    major, minor = str(BINARY_VERSION.major), str(BINARY_VERSION.minor)
    interpreter, python = platform.python_implementation().lower(), f"python{platform.python_version()}"
    build = registry.family(catalog.BUILD_INFO)
    build.number(major, minor, version, "", "", "", python, interpreter, runs_on).value = 1
    emulated = gates.version
    compatible = f"{emulated.major}.{max(emulated.minor - 1, OLDEST_VERSION.minor)}"
    binary = version.removeprefix("v").partition("+")[0]
    registry.family(catalog.VERSION_INFO).number("kube", binary, str(emulated), compatible).value = 1
    enabled = registry.family(catalog.FEATURE_ENABLED)
    for name, on in gates.all().items():
        stage = gates.stage(name)
        enabled.number(name, "" if stage == "GA" else stage).value = on


async def measure_lag(lag: Buckets) -> NoReturn:
    """Observe, once a second, the lag of the event loop."""
    loop = asyncio.get_running_loop()
    while True:
        asked = loop.time() + LAG_PERIOD_SECONDS
        await asyncio.sleep(LAG_PERIOD_SECONDS)
        lag.observe(max(0.0, loop.time() - asked))
