"""Differences from upstream that are known, with their reasons; they are counted, not listed."""

import re

# what a line begins with: the reason
ACCEPTED: dict[str, str] = {
    r"admissionregistration\.k8s\.io/v1 WebhookClientConfig\.caBundle": "an empty bundle is told from none",
    r"\S*apiregistration\.v1\.APIServiceSpec\.fields\.caBundle": "bytes are one value, whatever upstream's marker says",
    r"scheduler_(goroutines|permit_wait_duration_seconds|plugin_evaluation_total|unschedulable_pods)\.stability": (
        "the binary says BETA, upstream's list is behind"
    ),
    r"scheduler_(async_api_call_execution|pending_async_api_calls)": (
        "see the row on metrics in docs/reference/differences.md"
    ),
    r"(workqueue|informer|rest_client|running_managed_controllers)\w*: missing": (
        "parts of Go's client; see the row on metrics in docs/reference/differences.md"
    ),
    r"(AllAlpha|AllBeta): not upstream": "no gate, but a switch of all gates of a stage",
    r"vmodule: not upstream": "registered by the logging library and hidden from the help text",
}


def is_accepted(line: str) -> bool:
    """Return whether a difference is known."""
    return any(re.match(pattern, line) for pattern in ACCEPTED)
