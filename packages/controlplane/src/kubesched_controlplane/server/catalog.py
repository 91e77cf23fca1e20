"""The built-in kinds in the order in which discovery lists them, from their declarations."""

from kubesched_controlplane.api.resources import Catalog
from kubesched_controlplane.custom import declarations as extensions
from kubesched_controlplane.kinds.declarations import (
    access,
    configuration,
    core,
    devices,
    network,
    scheduling,
    storage,
    workloads,
)
from kubesched_controlplane.registry.declaration import Declaration
from kubesched_controlplane.registry.strategy import Strategy

DECLARATIONS: tuple[Declaration, ...] = (
    *core.DECLARATIONS,
    *workloads.DECLARATIONS,
    *network.DECLARATIONS,
    *scheduling.DECLARATIONS,
    *storage.DECLARATIONS,
    *devices.DECLARATIONS,
    *configuration.DECLARATIONS,
    *extensions.DECLARATIONS,
    *access.DECLARATIONS,
)
RESOURCES = tuple(each.resource for each in DECLARATIONS)


def _strategies() -> dict[str, Strategy]:
    found: dict[str, Strategy] = {}
    for each in DECLARATIONS:
        if each.strategy is not None:
            found[each.resource.prefix] = each.strategy
        for subresource, strategy in each.subresource_strategies.items():
            found[f"{each.resource.prefix}/{subresource}"] = strategy
    return found


# by prefix, or by prefix and subresource
STRATEGIES = _strategies()


def built_in() -> Catalog:
    """Return a catalog of the built-in resources."""
    return Catalog(RESOURCES)
