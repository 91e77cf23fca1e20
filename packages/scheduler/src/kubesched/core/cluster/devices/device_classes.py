"""The device class that backs an extended resource.

From DeviceClass objects to resource names: a class's extendedResourceName, and the implicit name of every class. Read
by plugins that count extended resources or allocate devices for them.
"""

from datetime import datetime
from typing import Final

from kubesched.api.devices import DeviceClass
from kubesched.core.cluster.objects import Objects

IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


class DeviceClasses:
    """Resource name -> device class, recomputed when a class changed."""

    __slots__ = ("_by_resource", "_objects", "_version")

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._by_resource: dict[str, DeviceClass] = {}
        self._version = 0

    def of_resource(self, resource: str) -> DeviceClass | None:
        """Return the class that backs an extended resource, or None."""
        return self._current().get(resource)

    def __bool__(self) -> bool:
        """Return whether there is any class."""
        return bool(self._current())

    def _current(self) -> dict[str, DeviceClass]:
        version = self._objects.versions.get(DeviceClass.__name__, 0)
        if version != self._version:
            self._by_resource = _by_resource(self._objects.of(DeviceClass))
            self._version = version
        return self._by_resource


# upstream: dynamic-resource-allocation/deviceclass/extendedresourcecache (v1.36)
# differs (D-010): the reference updates its classes event by event: a class that loses a conflict on arrival has no
# implicit name either, and removing the winner leaves none. Here the result depends on the classes only
def _by_resource(classes: list[DeviceClass]) -> dict[str, DeviceClass]:
    """Return the classes by resource name; of several with one name the newest counts, then the first by name."""
    found: dict[str, DeviceClass] = {}
    for device_class in sorted(classes, key=lambda each: each.metadata.name, reverse=True):
        found[IMPLICIT_PREFIX + device_class.metadata.name] = device_class
        explicit = device_class.spec.extended_resource_name
        if explicit is not None:
            rival = found.get(explicit)
            if rival is None or _created(device_class) >= _created(rival):
                found[explicit] = device_class
    return found


def _created(device_class: DeviceClass) -> tuple[bool, datetime | None]:
    """Return a sort key by creation time; classes without one are the oldest."""
    created = device_class.metadata.creation_timestamp
    return created is not None, created
