"""Configuration changes of a trace: they take effect during the simulation.

From an event of a trace to a configuration for the scheduler. Feature gates and plugins stay as at the start.
"""

from kubesched.config.errors import ConfigError
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.trace import ConfigurationChange, Trace


def changed_configuration(
    event: ConfigurationChange, trace: Trace, before: Loaded, registry: Registry | None
) -> Loaded:
    """Return the configuration that an event puts in force; raises TraceError."""
    place = f"{trace.name}, at {event.at:g} s: `configuration`"
    try:
        loaded = load_config(event.text or None, before.gates, registry)
    except ConfigError as error:
        raise TraceError(f"{place}: {error.errors[0]}") from None
    if loaded.config.extenders:
        raise TraceError(f"{place}: it has extenders, which cannot be simulated: remove them")
    return loaded
