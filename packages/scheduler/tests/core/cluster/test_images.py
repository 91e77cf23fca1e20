"""Images by holder."""

from kubesched.api.nodes import ContainerImage
from kubesched.core.cluster.images import NodeImages


def image(size: int, *names: str) -> ContainerImage:
    return ContainerImage(names=names, size_bytes=size)


def sizes(images: NodeImages, name: str) -> dict[int, int] | None:
    holders = images.holders(name)
    return None if holders is None else holders.sizes


def test_holders_by_name() -> None:
    images = NodeImages()
    images.assign(0, [image(5, "a:1", "a@sha256:x"), image(7, "b:1")])
    images.assign(1, [image(6, "a:1")])
    assert sizes(images, "a:1") == {0: 5, 1: 6}
    assert sizes(images, "a@sha256:x") == {0: 5}
    assert sizes(images, "c:1") is None
    assert images.on(0) == {"a:1": 5, "a@sha256:x": 5, "b:1": 7}
    images.assign(0, [image(7, "b:1")])
    assert sizes(images, "a:1") == {1: 6}
    images.assign(1, [])
    assert sizes(images, "a:1") is None, "nobody holds it any longer"
    assert images.on(1) == {}


def test_of_an_image_listed_twice_the_last_size_counts() -> None:
    images = NodeImages()
    images.assign(0, [image(5, "a:1"), image(9, "a:1")])
    assert sizes(images, "a:1") == {0: 9}


def test_versions_move_when_holders_do() -> None:
    images = NodeImages()

    def version() -> int:
        holders = images.holders("a:1")
        return 0 if holders is None else holders.version

    seen = [version()]
    images.assign(0, [image(5, "a:1")])
    seen.append(version())
    images.assign(0, [image(5, "a:1"), image(5, "b:1")])
    assert version() == seen[-1], "another image came"
    images.assign(0, [image(6, "a:1")])
    seen.append(version())
    images.assign(0, [])
    images.assign(0, [image(5, "a:1")])
    seen.append(version())
    assert len(set(seen)) == len(seen), "a version never comes back"
