"""ZoneSignal: scores by a number of each zone or region from a server, such as its carbon intensity or a price.

In: JSON over HTTP, on an interval. Out: the plugin. Never: a request in a scheduling cycle.
"""

from kubesched_contrib.zone_signal.plugin import ZoneSignal

__all__ = ["ZoneSignal"]
