"""Which metrics are served, and which values their labels may have.

From --disabled-metrics, --allow-metric-labels, --allow-metric-labels-manifest and --show-hidden-metrics-for-version to
one value. Problems are errors at start, and name the flag.
"""

# upstream: component-base/metrics/api/v1/config.go, component-base/metrics/options.go (v1.36)

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.config.document import DocumentError, parse
from kubesched.config.feature_gates import BINARY_VERSION
from kubesched.errors import KubeschedError

LARGEST_MANIFEST = 1 << 20
_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = r"[a-zA-Z_][a-zA-Z0-9_]*"
_PREVIOUS = f"{BINARY_VERSION.major}.{BINARY_VERSION.minor - 1}"


class MetricOptionError(KubeschedError):
    """An invalid metrics flag."""


class MetricOptions(msgspec.Struct, frozen=True):
    """Metrics to leave out, and the allowed values of labels by metric and label."""

    disabled: frozenset[str] = frozenset()
    allowed: Mapping[str, Mapping[str, frozenset[str]]] = {}


def read_metric_options(
    disabled: Sequence[str] = (),
    allow_labels: Mapping[str, str] | None = None,
    allow_labels_manifest: str = "",
    show_hidden_for_version: str = "",
) -> MetricOptions:
    """Return the options that the flags give; raises MetricOptionError for invalid ones."""
    for name in disabled:
        if not re.fullmatch(_NAME, name):
            raise MetricOptionError(f'--disabled-metrics: "{name}" is not the full name of a metric')
    if show_hidden_for_version not in ("", _PREVIOUS):
        raise MetricOptionError(
            f'--show-hidden-metrics-for-version: "{show_hidden_for_version}" must be omitted or have the value '
            f"'{_PREVIOUS}'; only the previous minor version is allowed"
        )
    if allow_labels and allow_labels_manifest:
        raise MetricOptionError("--allow-metric-labels and --allow-metric-labels-manifest cannot both be given")
    if allow_labels_manifest:
        flag = "--allow-metric-labels-manifest"
        allowed = _allowed(_manifest(flag, allow_labels_manifest), f"{flag} {allow_labels_manifest}")
    else:
        allowed = _allowed(allow_labels or {}, "--allow-metric-labels")
    return MetricOptions(frozenset(disabled), allowed)


def _allowed(mapping: Mapping[str, str], where: str) -> dict[str, dict[str, frozenset[str]]]:
    allowed: dict[str, dict[str, frozenset[str]]] = {}
    for key, values in mapping.items():
        if not re.fullmatch(f"{_NAME},{_LABEL}", key):
            raise MetricOptionError(f'{where}: the key "{key}" must have the form metricName,labelName')
        metric, label = key.split(",")
        allowed.setdefault(metric, {})[label] = frozenset(values.split(","))
    return allowed


def _manifest(flag: str, path: str) -> Mapping[str, str]:
    try:
        document: Any = parse(read_at_most(path, LARGEST_MANIFEST))
    except UnusableFileError as error:
        raise MetricOptionError(f"{flag} {path}: failed to read allow list manifest: {error}") from None
    except DocumentError as error:
        raise MetricOptionError(f"{flag} {path}: failed to parse allow list manifest: {error}") from None
    # differs (D-096): the reference refuses the form of its own help, with the mapping under allowListMapping
    if isinstance(document, dict) and isinstance(document.get("allowListMapping"), dict):
        document = document["allowListMapping"]
    if not isinstance(document, dict) or not all(isinstance(value, str) for value in document.values()):
        raise MetricOptionError(f'{flag} {path}: must map "metricName,labelName" to "value1,value2"')
    return document
