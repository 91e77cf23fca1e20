"""The parts of a configuration that can change without a restart.

From a new configuration and the one in force to the resulting one, and to the names of the fields that keep their
values until the process is restarted.
"""

from typing import Any

import msgspec

from kubesched.config.encoding import to_wire
from kubesched.config.types import KubeSchedulerConfiguration

# all other fields were used when the process started: clients, leader election, served pages
RELOADED = (
    "profiles",
    "extenders",
    "percentage_of_nodes_to_score",
    "pod_initial_backoff_seconds",
    "pod_max_backoff_seconds",
)


def with_restart_fields_of(
    in_force: KubeSchedulerConfiguration, new: KubeSchedulerConfiguration
) -> tuple[KubeSchedulerConfiguration, list[str]]:
    """Return the new configuration with the old values of fields that need a restart, and the names of these
    fields.
    """
    changed = {name: getattr(new, name) for name in RELOADED}
    merged = msgspec.structs.replace(in_force, **changed)
    return merged, sorted(_differences(to_wire(merged), to_wire(new), ""))


def _differences(old: Any, new: Any, path: str) -> list[str]:
    """Return the paths of the fields that differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = dict.fromkeys((*old, *new))
        return [each for name in names for each in _differences(old.get(name), new.get(name), f"{path}.{name}")]
    return [path.removeprefix(".")] if old != new else []
