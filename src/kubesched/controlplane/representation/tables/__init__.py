"""Tables: objects as people read them, in the columns they know.

From documents to cells, kind by kind; `printer_of` knows the columns of a resource. The time comes in from outside, for
the ages.
"""

from kubesched.controlplane.api.resources import Resource, RowPrinter
from kubesched.controlplane.representation.tables import (
    access,
    admission,
    cluster,
    controllers,
    devices,
    pods,
    scheduling,
    services,
    storage,
)
from kubesched.controlplane.representation.tables.printing import Printer, aged, dated

PRINTERS: dict[str, Printer] = {
    **pods.PRINTERS,
    **cluster.PRINTERS,
    **controllers.PRINTERS,
    **services.PRINTERS,
    **storage.PRINTERS,
    **devices.PRINTERS,
    **scheduling.PRINTERS,
    **access.PRINTERS,
    **admission.PRINTERS,
}
_BUILT_IN = ("", "apps", "batch", "policy", "autoscaling")


def printer_of(resource: Resource) -> RowPrinter:
    """Return the printer of a resource; kinds without one are printed by name and age."""
    found = resource.printer or PRINTERS.get(resource.prefix)
    if found is not None:
        return found
    return dated if resource.group in _BUILT_IN or resource.group.endswith(".k8s.io") else aged
