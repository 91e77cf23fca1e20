"""NetworkTopologies: the cost of traffic from a region or zone to another.

From a custom object to `NetworkCosts`, those of one list of weights.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kubesched_contrib.object_fields import object_in, objects_in, text_in, whole_number_in

KIND = "networktopologies.v1alpha1.networktopology.diktyo.x-k8s.io"
REGION_KEY = "topology.kubernetes.io/region"
ZONE_KEY = "topology.kubernetes.io/zone"
# between nodes without a known relation
MAX_COST = 100
SAME_ZONE = 1
Costs = Mapping[tuple[str, str], int]


class NetworkLocation(NamedTuple):
    """The region and the zone of a node, empty texts if it has none."""

    region: str
    zone: str


class NetworkCosts(NamedTuple):
    """Costs by origin and destination: between regions, and between zones of a region."""

    regions: Costs
    zones: Costs

    def between(self, here: NetworkLocation, there: NetworkLocation) -> int | None:
        """Return the network cost between two nodes, None if the NetworkTopology has none."""
        if here.region != there.region:
            return self.regions.get((here.region, there.region)) if here.region else None
        if here.zone == there.zone:
            return SAME_ZONE
        return self.zones.get((here.zone, there.zone)) if here.zone else None


def read_network_costs(obj: Any, weights_name: str) -> NetworkCosts:
    """Return the costs under a name of weights; raises InvalidObjectError if the object is invalid."""
    found: dict[str, dict[tuple[str, str], int]] = {REGION_KEY: {}, ZONE_KEY: {}}
    for index, weights in enumerate(objects_in(object_in(obj.fields, "spec"), "weights", "spec")):
        if weights.get("name") != weights_name:
            continue
        path = f"spec.weights[{index}]"
        for number, topology in enumerate(objects_in(weights, "topologyList", path)):
            costs = found.get(text_in(topology, "topologyKey", f"{path}.topologyList[{number}]"))
            if costs is not None:
                costs.update(_costs(topology, f"{path}.topologyList[{number}]"))
    return NetworkCosts(found[REGION_KEY], found[ZONE_KEY])


def _costs(topology: Mapping[str, Any], path: str) -> dict[tuple[str, str], int]:
    found = {}
    for index, origin in enumerate(objects_in(topology, "originList", path)):
        here = text_in(origin, "origin", f"{path}.originList[{index}]")
        for number, cost in enumerate(objects_in(origin, "costList", f"{path}.originList[{index}]")):
            field = f"{path}.originList[{index}].costList[{number}]"
            found[here, text_in(cost, "destination", field)] = whole_number_in(cost, "networkCost", field, 0)
    return found
