"""kubectl with kinds that are defined while the server runs: apply, get, explain, scale, wait, delete.

Skipped where there is no kubectl. The definition and its first object are loaded with the server, from one folder.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.control_plane import a_control_plane
from tests.support.kubectl import WHY_MISSING, Kubectl, is_missing

pytestmark = pytest.mark.skipif(is_missing(), reason=WHY_MISSING)

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gangs.batch.example.com}
spec:
  group: batch.example.com
  names: {plural: gangs, singular: gang, kind: Gang, shortNames: [gg], categories: [crews]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.ready, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: State, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        description: A Gang is a number of pods that go together.
        type: object
        required: [spec]
        properties:
          spec:
            description: What is wanted.
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: "!has(self.least) || self.least <= self.size", message: least must not be more than size}
            properties:
              size: {description: How many there are., type: integer, minimum: 1, maximum: 50}
              least: {type: integer}
              policy: {type: string, enum: [All, Some], default: All}
              members:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer}}}
          status:
            type: object
            properties:
              ready: {type: integer}
              selector: {type: string}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
"""
# the object comes first by its name, and last by what it needs
LOADED = """
apiVersion: batch.example.com/v1
kind: Gang
metadata: {name: loaded, namespace: default}
spec: {size: 2}
status: {ready: 1}
"""
GANG = """
apiVersion: batch.example.com/v1
kind: Gang
metadata: {name: crew}
spec: {size: 3, members: [{name: a, weight: 1}]}
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("kubectl")
    (folder / "cluster").mkdir()
    (folder / "cluster" / "a-gang.yaml").write_text(LOADED)
    (folder / "cluster" / "definition.yaml").write_text(DEFINITION)
    config = folder / "config"
    with a_control_plane("--kubeconfig", str(config), str(folder / "cluster")) as process:
        yield config
        code, _, err = process.end()
        assert (code, err) == (0, ""), "nothing went wrong inside"


@pytest.fixture
def kubectl(config: Path, request: pytest.FixtureRequest) -> Kubectl:
    namespace = request.node.name.removeprefix("test_").replace("_", "-")
    made = Kubectl(config, config.parent, namespace)
    made("create", "namespace", namespace)
    return made


def test_loaded_with_the_server(config: Path) -> None:
    kubectl = Kubectl(config, config.parent, "default")
    assert kubectl.table("get", "gangs", "--no-headers")[0][:2] == ["loaded", "2"]
    assert kubectl("get", "gang", "loaded", "-o", "jsonpath={.spec.policy} {.status.ready}") == "All 1"


def test_found_by_all_its_names(kubectl: Kubectl) -> None:
    assert ["gangs", "gg", "batch.example.com/v1", "true", "Gang"] in kubectl.table("api-resources", "--no-headers")
    assert kubectl("apply", "-f", "-", text=GANG) == "gang.batch.example.com/crew created"
    for name in ("gangs", "gang", "gg", "gangs.v1.batch.example.com", "crews"):
        assert kubectl("get", name, "-o", "name") == "gang.batch.example.com/crew"


def test_columns_of_its_own(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=GANG)
    ready = '{"status": {"conditions": [{"type": "Other"}, {"type": "Ready", "status": "True"}]}}'
    kubectl("patch", "gang", "crew", "--subresource=status", "--type=merge", "-p", ready)
    head, row = kubectl.table("get", "gangs")
    assert head == ["NAME", "SIZE", "STATE", "AGE"]
    assert row[:3] == ["crew", "3", "True"]


def test_applied_again(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=GANG)
    assert kubectl("apply", "-f", "-", text=GANG) == "gang.batch.example.com/crew unchanged"
    assert kubectl("apply", "-f", "-", text=GANG.replace("size: 3", "size: 4")).endswith("configured")
    assert kubectl("get", "gang", "crew", "-o", "jsonpath={.spec.size} {.metadata.generation}") == "4 2"


def test_applied_by_the_server(kubectl: Kubectl) -> None:
    kubectl("apply", "--server-side", "-f", "-", text=GANG)
    other = GANG.replace("size: 3, members: [{name: a, weight: 1}]", "members: [{name: b}]")
    kubectl("apply", "--server-side", "--field-manager=other", "-f", "-", text=other)
    names = kubectl("get", "gang", "crew", "-o", "jsonpath={.spec.members[*].name}")
    assert sorted(names.split()) == ["a", "b"], "elements are told apart by their names"
    refusal = kubectl.refused(
        "apply", "--server-side", "--field-manager=other", "-f", "-", text=GANG.replace("size: 3", "size: 9")
    )
    assert "conflict with " in refusal
    assert ".spec.size" in refusal


def test_scaled(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=GANG)
    assert kubectl("scale", "gang", "crew", "--replicas=7") == "gang.batch.example.com/crew scaled"
    assert kubectl("get", "gang", "crew", "-o", "jsonpath={.spec.size}") == "7"
    assert "should be less than or equal to 50" in kubectl.refused("scale", "gang", "crew", "--replicas=70")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("size: 0", "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"),
        ("size: three", 'spec.size in body must be of type integer: "string"'),
        ("size: 3, policy: None", 'spec.policy: Unsupported value: "None": supported values: "All", "Some"'),
        ("size: 3, least: 4", "spec: Invalid value: least must not be more than size"),
        ("size: 3, colour: red", 'strict decoding error: unknown field "spec.colour"'),
    ],
    ids=["too small", "no number", "no policy", "against a rule", "unknown"],
)
def test_refused(config: Path, wrong: str, words: str) -> None:
    kubectl = Kubectl(config, config.parent, "default")
    assert words in kubectl.refused("create", "-f", "-", text=GANG.replace("size: 3", wrong, 1))


def test_explained(kubectl: Kubectl) -> None:
    whole = kubectl("explain", "gang")
    assert "A Gang is a number of pods that go together." in whole
    found = kubectl("explain", "gang.spec")
    assert "size\t<integer> -required-" in found
    assert "How many there are." in found
    assert "members\t<[]Object>" in found


def test_changed_by_patches(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=GANG)
    kubectl("patch", "gang", "crew", "--type=merge", "-p", '{"spec": {"least": 1}}')
    kubectl("patch", "gang", "crew", "--type=json", "-p", '[{"op": "remove", "path": "/spec/members"}]')
    kubectl("label", "gang", "crew", "team=red")
    assert kubectl("get", "gang", "-l", "team=red", "-o", "jsonpath={.items[0].spec}") == (
        '{"least":1,"policy":"All","size":3}'
    )
    refusal = kubectl.refused("patch", "gang", "crew", "-p", '{"spec": {"least": 1}}')
    assert "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml" in refusal


def test_defined_and_forgotten(kubectl: Kubectl) -> None:
    definition = DEFINITION.replace("gangs", "bands").replace("gang", "band").replace("Gang", "Band")
    definition = definition.replace("[gg]", "[bb]").replace("[crews]", "[tunes]")
    assert kubectl("apply", "-f", "-", text=definition).endswith("bands.batch.example.com created")
    kubectl("wait", "--for=condition=Established", "crd/bands.batch.example.com", "--timeout=10s")
    kubectl("create", "-f", "-", text=GANG.replace("Gang", "Band"))
    assert kubectl("apply", "-f", "-", text=definition).endswith("unchanged")
    other = definition.replace("least: {type: integer}", "least: {type: integer, default: 2}")
    assert kubectl("apply", "-f", "-", text=other).endswith("configured")
    assert kubectl("get", "band", "crew", "-o", "jsonpath={.spec.least}") == "2", "objects follow their definition"
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=other)
    assert "openAPIV3Schema\t<JSONSchemaProps>" in kubectl("explain", "crd.spec.versions.schema")
    assert "bands.batch.example.com" in kubectl("get", "crd")
    assert "Kind: Band" in " ".join(kubectl("describe", "crd", "bands.batch.example.com").split())
    kubectl("delete", "crd", "bands.batch.example.com")
    assert "could not find the requested resource" in kubectl.refused("get", "bands")
