"""Tables: objects in the columns of kubectl.

From documents to cells, kind by kind; the declaration of a kind names its printer. The current time, for
ages, is an argument.
"""

from kubesched_controlplane.api.resources import Resource, RowPrinter
from kubesched_controlplane.representation.tables.printing import aged, dated

_BUILT_IN = ("", "apps", "batch", "policy", "autoscaling")


def printer_of(resource: Resource) -> RowPrinter:
    """Return the printer of a resource; kinds without one are printed by name and age."""
    if resource.printer is not None:
        return resource.printer
    return dated if resource.group in _BUILT_IN or resource.group.endswith(".k8s.io") else aged
