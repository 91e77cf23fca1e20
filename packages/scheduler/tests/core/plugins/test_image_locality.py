"""ImageLocality: scores by the bytes that need not be pulled."""

import pytest
from tests.support.asking import raw_scores

from kubesched.api.nodes import ContainerImage
from kubesched.api.volumes import ImageVolumeSource, Volume
from kubesched.core.plugins.image_locality import ImageLocality, normalized_image_name
from kubesched.testing import a_cluster, a_container, a_node, a_pod

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        pytest.param("nginx", "nginx:latest", id="no tag means latest"),
        pytest.param("nginx:1", "nginx:1", id="a tag is kept"),
        pytest.param("host:5000/nginx", "host:5000/nginx:latest", id="a port is no tag"),
        pytest.param("nginx@sha256:ab", "nginx@sha256:ab", id="a digest will do"),
        pytest.param("", ":latest", id="even without a name"),
    ],
)
def test_names(name: str, normalized: str) -> None:
    assert normalized_image_name(name) == normalized


@pytest.mark.parametrize(
    ("sizes_mib", "scores"),
    [
        pytest.param({}, [0, 0], id="nobody holds it"),
        pytest.param({"a": 46, "b": 46}, [2, 2], id="on every node it counts in full"),
        pytest.param({"a": 1000}, [48, 0], id="on half the nodes it counts for half"),
        pytest.param({"a": 46}, [0, 0], id="too small to matter"),
        pytest.param({"a": 9000, "b": 500}, [100, 48], id="more than the most is the most; sizes are the nodes' own"),
        pytest.param({"a": -5, "b": 0}, [0, 0], id="absurd sizes count for nothing"),
    ],
)
def test_size_and_spread(sizes_mib: dict[str, int], scores: list[int]) -> None:
    nodes = [a_node(n, images={"img:1": sizes_mib[n] * MIB} if n in sizes_mib else {}) for n in "ab"]
    cluster = a_cluster(*nodes)
    assert raw_scores(ImageLocality(cluster), cluster, a_pod(image="img:1")) == dict(zip("ab", scores, strict=True))


def test_all_containers_and_image_volumes_count_but_volumes_not_in_the_divisor() -> None:
    cluster = a_cluster(a_node("n", images={"x:latest": 500 * MIB, "y:latest": 500 * MIB}))
    plugin = ImageLocality(cluster)
    one = a_pod(image="x")
    init = a_pod(image="x", init_containers=(a_container(image="y"),))
    volume = Volume(name="v", image=ImageVolumeSource(reference="y"))
    assert raw_scores(plugin, cluster, one) == {"n": 48}
    assert raw_scores(plugin, cluster, init) == {"n": 49}
    assert raw_scores(plugin, cluster, a_pod(containers=[a_container(image="x")] * 2)) == {"n": 49}
    assert raw_scores(plugin, cluster, a_pod(image="x", volumes=[volume])) == {"n": 100}
    assert raw_scores(plugin, cluster, a_pod(containers=[], volumes=[volume])) == {"n": 100}
    assert raw_scores(plugin, cluster, a_pod(containers=[])) == {"n": 0}


def test_an_image_has_many_names_and_the_last_size_counts() -> None:
    images = [
        ContainerImage(names=("x:1", "x:latest"), size_bytes=500 * MIB),
        ContainerImage(names=("x:1",), size_bytes=1000 * MIB),
    ]
    cluster = a_cluster(a_node("n", images=images))
    assert raw_scores(ImageLocality(cluster), cluster, a_pod(image="x")) == {"n": 48}
    assert raw_scores(ImageLocality(cluster), cluster, a_pod(image="x:1")) == {"n": 100}


def test_the_question_is_asked_anew_only_when_its_images_move() -> None:
    cluster = a_cluster(a_node("a", images={"x:1": 1000 * MIB}), a_node("b"))
    question = ImageLocality(cluster).score_question(cluster.reader.read(a_pod(image="x:1")))
    question.refresh()
    assert question.raw.tolist() == [48, 0]
    before = question.generation
    cluster.add(a_node("b", images={"other:1": 5}))
    question.refresh()
    assert question.generation == before, "another image came"
    cluster.add(a_node("b", images={"x:1": 100 * MIB}))
    question.refresh()
    assert question.raw.tolist() == [100, 7], "the spread changed for the other node, too"
    assert question.generation > before
    cluster.remove(a_node("b"))
    question.refresh()
    assert question.raw[0] == 100
    cluster.add(a_node("c"))
    question.refresh()
    assert question.raw[0] == 48, "the number of nodes matters"


def test_it_rejects_nobody_and_waits_for_nothing() -> None:
    assert not ImageLocality(a_cluster()).events_to_register()
