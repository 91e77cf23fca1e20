"""Device classes by the extended resources they stand for."""

from kubesched.api.codec import decode
from kubesched.api.devices import DeviceClass, DeviceClassSpec
from kubesched.api.meta import ObjectMeta
from kubesched.core.cluster.changes import ChangeLog
from kubesched.core.cluster.devices.device_classes import DeviceClasses
from kubesched.core.cluster.objects import Objects

GPU = "example.com/gpu"


def a_class(name: str, created: str = "") -> DeviceClass:
    metadata = {"name": name, **({"creationTimestamp": created} if created else {})}
    spec = {"extendedResourceName": GPU}
    decoded = decode({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata, "spec": spec})
    assert isinstance(decoded, DeviceClass)
    return decoded


def name_of(*classes: DeviceClass, resource: str = GPU) -> str | None:
    objects = Objects(ChangeLog())
    for each in classes:
        objects.put("DeviceClass", each)
    found = DeviceClasses(objects).of_resource(resource)
    return None if found is None else found.metadata.name


def test_every_class_has_a_resource_of_its_own() -> None:
    plain = DeviceClass(metadata=ObjectMeta(name="plain"), spec=DeviceClassSpec())
    assert name_of(plain, resource="deviceclass.resource.kubernetes.io/plain") == "plain"
    assert name_of(plain, resource="deviceclass.resource.kubernetes.io/other") is None
    assert name_of(plain) is None


def test_of_several_classes_the_newest_has_the_resource_then_the_first_by_name() -> None:
    assert name_of(a_class("a", "2024-01-01T00:00:00Z"), a_class("b", "2024-01-02T00:00:00Z")) == "b"
    assert name_of(a_class("a", "2024-01-02T00:00:00Z"), a_class("b", "2024-01-01T00:00:00Z")) == "a"
    assert name_of(a_class("b"), a_class("a")) == "a"
    assert name_of(a_class("a"), a_class("b", "2024-01-01T00:00:00Z")) == "b"


def test_changes_are_followed() -> None:
    objects = Objects(ChangeLog())
    classes = DeviceClasses(objects)
    assert not classes
    objects.put("DeviceClass", a_class("a"))
    assert classes
    assert classes.of_resource(GPU) is not None
    objects.remove("DeviceClass", "a")
    assert classes.of_resource(GPU) is None
