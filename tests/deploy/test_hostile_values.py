"""Values of the chart that are YAML, templates or shell: Helm refuses them, or they stay texts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.support.rendering import CHART, IMAGE, WHY_NO_HELM, chart, documents, path_of_helm, run_helm

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)]

HOSTILE = (
    'x"\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: evil}\n---\n# "',
    "x\n      hostNetwork: true\n      containers: [{name: evil, image: evil}]",
    "{{ .Release.Name }}{{ fail `evil` }} $(id) `id` : # & *a !!python/object:os.system",
)
# switches, so that every template is rendered
ON = ("--set", "networkPolicy.enabled=true,podMonitor.enabled=true,reload=true")


def texts(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of values that are texts, and of objects that have none yet."""
    if isinstance(values, str):
        yield path
    elif isinstance(values, dict):
        if not values:
            yield (*path, "key")
        for name, value in values.items():
            yield from texts(value, (*path, name))
    elif isinstance(values, list):
        yield (*path, "")


PATHS = list(texts(yaml.safe_load((CHART / "values.yaml").read_text())))


def kinds(found: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(each["kind"] for each in found)


def with_value(path: tuple[str, ...], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value} if name else [value]
    return value


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_a_hostile_value_adds_no_object_and_no_container(path: tuple[str, ...], tmp_path: Path) -> None:
    expected = kinds(chart(*IMAGE, *ON, home=tmp_path))
    for number, text in enumerate(HOSTILE):
        file = tmp_path / f"values-{number}.json"
        file.write_bytes(msgspec.json.encode(with_value(path, text)))
        image = () if path == ("image", "repository") else IMAGE
        options = ("--namespace", "kube-system", *image, *ON, "--values", str(file))
        found = run_helm("template", "kubesched", str(CHART), *options, home=tmp_path)
        if found.returncode:
            # the schema, a check of the chart, or YAML that cannot be read
            assert "Error:" in found.stderr
            continue
        made = documents(found.stdout)
        assert kinds(made) == expected, text
        (deployment,) = (each for each in made if each["kind"] == "Deployment")
        spec = deployment["spec"]["template"]["spec"]
        assert [each["name"] for each in spec["containers"]] == ["kubesched"], text
        assert "hostNetwork" not in spec, text
