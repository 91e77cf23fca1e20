"""The chart and the kustomize bases: accepted with strict field validation, safe, alike, and with no right too many."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.kubectl import WHY_MISSING, is_missing
from tests.support.pod_security import violations
from tests.support.rendering import (
    BASES,
    CHART,
    IMAGE,
    WHY_NO_HELM,
    Document,
    chart,
    documents,
    kustomize,
    of_kind,
    only,
    path_of_helm,
    run_helm,
)
from tests.support.roles import a_guarded_server

from kubesched import __version__
from kubesched.config.load import load
from kubesched_controlplane.access.rules import Rule
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.transport.local_client import LocalClient

pytestmark = pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)

EVERYTHING = (
    *IMAGE,
    *("--set", "replicas=3,podAntiAffinity=required,networkPolicy.enabled=true,podMonitor.enabled=true"),
)
_TEXT: Document = {"type": "string"}
# the fields of a PodMonitor that ours has: any other one is refused with strict field validation
_MONITORED: Document = {
    "type": "object",
    "required": ["podMetricsEndpoints", "selector"],
    "properties": {
        "selector": {
            "type": "object",
            "properties": {"matchLabels": {"type": "object", "additionalProperties": _TEXT}},
        },
        "podMetricsEndpoints": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "port": _TEXT,
                    "path": _TEXT,
                    "scheme": {"type": "string", "enum": ["http", "https"]},
                    "interval": {"type": "string", "pattern": "^([0-9]+(ms|s|m|h))+$"},
                    "authorization": {
                        "type": "object",
                        "properties": {
                            "type": _TEXT,
                            "credentials": {
                                "type": "object",
                                "required": ["key"],
                                "properties": {"name": _TEXT, "key": _TEXT},
                            },
                        },
                    },
                    "tlsConfig": {"type": "object", "properties": {"insecureSkipVerify": {"type": "boolean"}}},
                },
            },
        },
    },
}
MONITORS: Document = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "podmonitors.monitoring.coreos.com"},
    "spec": {
        "group": "monitoring.coreos.com",
        "names": {"plural": "podmonitors", "kind": "PodMonitor"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _MONITORED}}},
            }
        ],
    },
}


def rendered(which: str, home: Path) -> list[Document]:
    """Return the objects of a base, or of the chart."""
    if which == "chart":
        return chart(*IMAGE, home=home)
    return chart(*EVERYTHING, home=home) if which == "whole chart" else kustomize(BASES / which)


def applied(found: list[Document]) -> Any:
    """Create objects on a new server with strict field validation; return the server."""
    server = a_guarded_server()
    client = LocalClient(server, ADMINISTRATOR)
    for document in (MONITORS, *found):
        client.create(client.resource(document["apiVersion"], document["kind"]), document, validation="Strict")
    return server


@pytest.mark.parametrize(
    "which", ["chart", "whole chart", "second-scheduler", "high-availability", "pod-monitor", "replacement"]
)
def test_every_object_is_accepted_with_strict_field_validation(which: str, tmp_path: Path) -> None:
    applied(rendered(which, tmp_path))


@pytest.mark.parametrize("which", ["chart", "whole chart", "second-scheduler", "high-availability"])
def test_pods_meet_the_restricted_standard_and_cannot_write(which: str, tmp_path: Path) -> None:
    spec = only(rendered(which, tmp_path), "Deployment")["spec"]["template"]["spec"]
    assert violations(spec) == []
    assert spec["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
    assert spec["containers"][0]["resources"].keys() == {"requests", "limits"}


def test_the_static_pod_is_root_without_its_powers() -> None:
    spec = only(kustomize(BASES / "replacement"), "Pod")["spec"]
    # what kubeadm's own has, too; the files and ports are the node's
    assert violations(spec) == ["hostNetwork", "volume kubeconfig", "kube-scheduler: runs as root"]


# -- rights


def atoms(rules: list[Rule]) -> set[tuple[str, ...]]:
    """Return each single right; a name is the last part."""
    return {
        (verb, group, resource, name)
        for rule in rules
        for verb in rule.verbs
        for group in rule.groups
        for resource in rule.resources
        for name in rule.names or ("",)
    }


def rights_of(server: Any, user: User, namespace: str = "kube-system") -> set[tuple[str, ...]]:
    rules, missing = server.access.rules_of(user, namespace)
    assert not missing
    return atoms(rules)


def account(name: str = "kubesched") -> User:
    return User(f"system:serviceaccount:kube-system:{name}", groups=("system:serviceaccounts",))


LEASES = "coordination.k8s.io"
OF_ITS_LEASE = {("get", LEASES, "leases", "kubesched"), ("update", LEASES, "leases", "kubesched")}


@pytest.mark.parametrize("which", ["chart", "whole chart", "second-scheduler", "high-availability"])
def test_it_may_do_what_every_scheduler_may_and_hold_its_lease_and_no_more(which: str, tmp_path: Path) -> None:
    server = applied(rendered(which, tmp_path))
    everybody = rights_of(server, User("somebody", groups=("system:serviceaccounts",)))
    scheduler = rights_of(server, User("system:kube-scheduler"))
    own = rights_of(server, account()) - everybody
    # kube-scheduler's user may also hold any Lease in kube-system
    of_any_lease = {each for each in scheduler - own if each[1] == LEASES}
    assert own - scheduler == OF_ITS_LEASE
    assert scheduler - everybody - own == of_any_lease


def test_a_replica_without_an_election_gets_no_right_to_a_lease(tmp_path: Path) -> None:
    alone = chart(*IMAGE, "--set", "replicas=1,config.leaderElection.leaderElect=false", home=tmp_path)
    assert not of_kind(alone, "Role")
    of_leases = {each for each in rights_of(applied(alone), account()) if each[3] == "kubesched"}
    assert not of_leases


def test_the_rules_of_plugins_are_granted_and_no_others(tmp_path: Path) -> None:
    values = tmp_path / "rights.yaml"
    rule = "{apiGroups: [example.com], resources: [racks], verbs: [get, list, watch]}"
    values.write_text(f"rbac: {{pluginRules: [{rule}]}}")
    with_plugins = rights_of(applied(chart(*IMAGE, "-f", str(values), home=tmp_path)), account())
    without = rights_of(applied(chart(*IMAGE, home=tmp_path)), account())
    assert with_plugins - without == {(verb, "example.com", "racks", "") for verb in ("get", "list", "watch")}


@pytest.mark.parametrize("which", ["whole chart", "pod-monitor"])
def test_prometheus_may_read_metrics_and_nothing_else(which: str, tmp_path: Path) -> None:
    found = rendered(which, tmp_path)
    name = only(found, "PodMonitor")["spec"]["podMetricsEndpoints"][0]["authorization"]["credentials"]["name"]
    assert only(found, "Secret")["metadata"]["annotations"] == {"kubernetes.io/service-account.name": name}
    role = only(found, "ClusterRole")
    assert role["rules"] == [{"nonResourceURLs": ["/metrics", "/metrics/resources", "/metrics/slis"], "verbs": ["get"]}]
    bound = [
        each["roleRef"]["name"]
        for each in (*of_kind(found, "ClusterRoleBinding"), *of_kind(found, "RoleBinding"))
        if any(subject["name"] == name for subject in each["subjects"])
    ]
    assert bound == [role["metadata"]["name"]]


# -- the configuration


@pytest.mark.parametrize("which", ["chart", "second-scheduler"])
def test_the_configuration_is_loaded_without_a_complaint(which: str, tmp_path: Path) -> None:
    loaded = load(only(rendered(which, tmp_path), "ConfigMap")["data"]["config.yaml"])
    assert [profile.scheduler_name for profile in loaded.profiles] == ["kubesched"]
    election = loaded.config.leader_election
    assert (election.leader_elect, election.resource_name, election.resource_namespace) == (
        True,
        "kubesched",
        "kube-system",
    )


def test_a_configuration_of_values_is_laid_over_the_one_of_the_chart(tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(
        "config: {parallelism: 4, leaderElection: {resourceName: other},\n"
        "  profiles: [{schedulerName: a}, {schedulerName: b}]}"
    )
    found = chart(*IMAGE, "-f", str(values), home=tmp_path, namespace="ops")
    loaded = load(only(found, "ConfigMap")["data"]["config.yaml"])
    assert [profile.scheduler_name for profile in loaded.profiles] == ["a", "b"]
    assert loaded.config.leader_election.resource_namespace == "ops"
    role = only(found, "Role")
    assert (role["metadata"]["namespace"], role["rules"][0]["resourceNames"]) == ("ops", ["other"])


def test_another_configuration_makes_new_pods(tmp_path: Path) -> None:
    def annotations(*options: str) -> Any:
        return only(chart(*IMAGE, *options, home=tmp_path), "Deployment")["spec"]["template"]["metadata"]["annotations"]

    assert annotations() == annotations("--set", "replicas=5")
    assert annotations() != annotations("--set", "config.parallelism=4")


def test_a_configuration_that_is_reloaded_makes_no_new_pods(tmp_path: Path) -> None:
    def template(*options: str) -> Any:
        found = chart(*IMAGE, "--set", "reload=true", *options, home=tmp_path)
        return only(found, "Deployment")["spec"]["template"]

    assert "--reload" in template()["spec"]["containers"][0]["args"]
    assert template() == template("--set", "config.parallelism=4")


# -- values


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param((), "image.repository: name an image that was built", id="no image"),
        pytest.param((*IMAGE, "--set", "replica=3"), "Additional property replica", id="an unknown value"),
        pytest.param((*IMAGE, "--set", "replicas=many"), "replicas", id="a number that is none"),
        pytest.param((*IMAGE, "--set", "image.digest=latest"), "image.digest", id="a digest that is none"),
        pytest.param((*IMAGE, "--set", "extraArgs={v=3}"), "extraArgs.0", id="a flag without a dash"),
        pytest.param(
            (*IMAGE, "--set", "serviceAccount.create=false"),
            "serviceAccount.name: without serviceAccount.create",
            id="no service account",
        ),
        pytest.param(
            (*IMAGE, "--set", "config.leaderElection.leaderElect=false"),
            "replicas: more than one replica needs config.leaderElection.leaderElect",
            id="two replicas without an election",
        ),
        pytest.param(
            (*IMAGE, "--set", "schedulerName=default-scheduler"),
            "is the name of the cluster's own scheduler",
            id="a second default scheduler",
        ),
        pytest.param(
            (*IMAGE, "--set-json", 'config={"profiles": [{}]}'),
            "is the name of the cluster's own scheduler",
            id="a profile without a name",
        ),
        pytest.param(
            (*IMAGE, "--set-json", 'config={"profiles": []}'),
            "is the name of the cluster's own scheduler",
            id="no profile, which is that of the default scheduler",
        ),
        pytest.param(
            (*IMAGE, "--set", "config.leaderElection.resourceName=kube-scheduler"),
            "the Lease kube-scheduler is held by the cluster's own scheduler",
            id="the Lease of the cluster's scheduler",
        ),
        pytest.param(
            (*IMAGE, "--set", "extraArgs={--leader-elect=false}"),
            "extraArgs: --leader-elect=false: rights, probes and the checks",
            id="a flag that undoes the election",
        ),
        pytest.param(
            (*IMAGE, "--set", "podDisruptionBudget.maxUnavailable=0"),
            "podDisruptionBudget.maxUnavailable",
            id="a budget that no drain can pass",
        ),
        pytest.param(
            (*IMAGE, "--set", "extraArgs={--bind-address=127.0.0.1}"),
            "extraArgs: --bind-address=127.0.0.1: kubelets and Prometheus ask",
            id="pages that no probe reaches",
        ),
        pytest.param(
            (*IMAGE, "--set", "config.apiVersion=kubescheduler.config.k8s.io/v1beta3"),
            "config.apiVersion",
            id="a version that is not read",
        ),
        pytest.param((*IMAGE, "--set", "config.kind=Policy"), "config.kind", id="a policy"),
        pytest.param((*IMAGE, "--set", "config=null"), "config is required", id="no configuration"),
        pytest.param((*IMAGE, "--set", "replicas=null"), "replicas is required", id="no number of replicas"),
        pytest.param((*IMAGE, "--set", "networkPolicy=null"), "networkPolicy is required", id="a part that is null"),
        pytest.param(
            (*IMAGE, "--set", "config.leaderElection=null"), "config.leaderElection: Invalid type", id="null below"
        ),
        pytest.param((*IMAGE, "--set", f"nameOverride={'a' * 300}"), "nameOverride", id="a name that is too long"),
        pytest.param((*IMAGE, "--set", "nameOverride=My App"), "nameOverride", id="a name with a blank"),
        pytest.param(
            (*IMAGE, "--set-string", "priorityClassName=a\n      hostNetwork: true"),
            "priorityClassName",
            id="a class that brings a field along",
        ),
        pytest.param(
            (*IMAGE, "--set-string", "image.tag=1\n        stdin: true"),
            "image.tag",
            id="a tag that brings a field along",
        ),
        pytest.param(
            (*IMAGE, "--set-string", "serviceAccount.name=a\n  x: y"),
            "serviceAccount.name",
            id="an account that brings a field along",
        ),
        pytest.param(
            (*IMAGE, "--set-json", 'podAnnotations={"a": 1}'), "podAnnotations.a", id="an annotation that is no text"
        ),
    ],
)
def test_wrong_values_are_named(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    found = run_helm("template", "kubesched", str(CHART), "--namespace", "kube-system", *options, home=tmp_path)
    assert found.returncode != 0
    assert words in found.stderr
    assert "nil pointer" not in found.stderr


def test_names_that_look_like_numbers_and_words_of_yaml_are_texts(tmp_path: Path) -> None:
    texts = "fullnameOverride=123,nameOverride=1e3,schedulerName=on,serviceAccount.name=true,image.tag=1.10"
    found = chart(*EVERYTHING, "--set-string", texts, home=tmp_path)
    applied(found)
    spec = only(found, "Deployment")["spec"]["template"]["spec"]
    assert (spec["serviceAccountName"], spec["containers"][0]["image"]) == (
        "true",
        "registry.example.com/kubesched:1.10",
    )
    assert load(only(found, "ConfigMap")["data"]["config.yaml"]).profiles[0].scheduler_name == "on"


def test_no_priority_class_and_an_annotation_of_the_name_of_the_checksum(tmp_path: Path) -> None:
    found = chart(*IMAGE, "--set", "priorityClassName=,podAnnotations.checksum/config=mine", home=tmp_path)
    template = only(found, "Deployment")["spec"]["template"]
    assert "priorityClassName" not in template["spec"]
    assert template["metadata"]["annotations"]["checksum/config"] != "mine"


def test_a_digest_takes_the_place_of_the_tag(tmp_path: Path) -> None:
    digest = "sha256:" + "0" * 64
    found = only(chart(*IMAGE, "--set", f"image.digest={digest},image.tag=x", home=tmp_path), "Deployment")
    image = found["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == f"registry.example.com/kubesched@{digest}"


def test_the_chart_has_the_version_of_the_package_and_no_complaints(tmp_path: Path) -> None:
    (found,) = documents((CHART / "Chart.yaml").read_text())
    assert (found["version"], found["appVersion"]) == (__version__, __version__)
    checked = run_helm("lint", "--strict", str(CHART), *IMAGE, home=tmp_path)
    assert checked.returncode == 0, checked.stdout


# -- the chart and the bases are alike


def comparable(found: list[Document]) -> Iterator[tuple[str, Any]]:
    """Return what objects say, without labels and annotations, which only Helm sets."""
    for each in found:
        spec = each.get("spec", {})
        for part in (spec, spec.get("template", {})):
            part.get("metadata", {}).pop("labels", None)
            part.get("metadata", {}).pop("annotations", None)
        text = repr({key: value for key, value in each.items() if key not in ("metadata", "data")})
        text = text.replace(", 'app.kubernetes.io/instance': 'kubesched'", "")
        text = re.sub(r"registry.example.com/kubesched:[^']*", "kubesched", text)
        yield f"{each['kind']} {each['metadata']['name']}", sorted(re.findall(r"[\w./:@=-]+", text))


@pytest.mark.parametrize(
    ("base", "options"),
    [
        ("second-scheduler", IMAGE),
        ("high-availability", (*IMAGE, "--set", "replicas=3,podAntiAffinity=required,networkPolicy.enabled=true")),
    ],
)
def test_the_bases_are_what_the_chart_makes(base: str, options: tuple[str, ...], tmp_path: Path) -> None:
    assert dict(comparable(kustomize(BASES / base))) == dict(comparable(chart(*options, home=tmp_path)))


@pytest.mark.skipif(is_missing(), reason=WHY_MISSING)
@pytest.mark.parametrize("base", ["second-scheduler", "high-availability", "replacement"])
def test_the_bases_are_what_kubectl_makes_of_them(base: str) -> None:
    made = subprocess.run(["kubectl", "kustomize", str(BASES / base)], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    # the name of a ConfigMap has a hash of its content
    text = re.sub(r"kubesched-[a-z0-9]{10}\b", "kubesched", made.stdout)

    def by_name(found: list[Document]) -> dict[str, Document]:
        return {f"{each['kind']} {each['metadata']['name']}": each for each in found}

    assert by_name(documents(text)) == by_name(kustomize(BASES / base))


OVERLAY = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [second-scheduler]
configMapGenerator:
- {name: kubesched, namespace: kube-system, behavior: replace, files: [config.yaml]}
generatorOptions: {disableNameSuffixHash: true}
patches:
- target: {kind: Deployment, name: kubesched}
  patch: |-
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --reload}
"""


@pytest.mark.skipif(is_missing(), reason=WHY_MISSING)
def test_an_overlay_whose_configuration_is_reloaded_makes_no_new_pods(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(OVERLAY)
    shutil.copytree(BASES / "second-scheduler", tmp_path / "second-scheduler")
    config = (BASES / "second-scheduler" / "config.yaml").read_text()

    def made(more: str) -> list[Document]:
        (tmp_path / "config.yaml").write_text(config + more)
        found = subprocess.run(["kubectl", "kustomize", str(tmp_path)], capture_output=True, text=True, timeout=60)
        assert found.returncode == 0, found.stderr
        return documents(found.stdout)

    before, after = made(""), made("parallelism: 4\n")
    assert only(before, "Deployment") == only(after, "Deployment")
    (container,) = only(after, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["args"][-1] == "--reload"
    assert "parallelism: 4" in only(after, "ConfigMap")["data"]["config.yaml"]
