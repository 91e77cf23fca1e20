"""What is found on an embedded cluster, in virtual time."""

import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.roles import a_binding, a_guarded_server, create

from kubesched import FilterPlugin
from kubesched.common.virtual_time import BEGINNING, run_in_virtual_time
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.types import LeaderElection
from kubesched.core.assembly import engine_of, load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.doctor.configuration_checks import IN_CONTRIB, CheckedConfiguration
from kubesched.doctor.examination import examine
from kubesched.doctor.examined_cluster import ExaminedCluster
from kubesched.doctor.findings import FAIL, OK, WARN, Finding, answer_of
from kubesched.doctor.rights_checks import needed_rights
from kubesched.doctor.scheduler_checks import check_pages
from kubesched.doctor.server_checks import check_leases, check_version, server_minor
from kubesched.testing.plugin_config import registry_of
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.local_rest import LocalRest

ITS_LEASE = LeaderElection(resource_name="kube-scheduler", resource_namespace="kube-system")
SCHEDULER = User("system:kube-scheduler", ("system:authenticated",))
NOBODY = User("nobody", ("system:authenticated",))
Document = dict[str, Any]


class Answers:
    """A server with prepared answers by path."""

    def __init__(self, answers: dict[str, bytes]) -> None:
        self._answers = answers

    async def get(self, path: str, query: object = None) -> bytes:
        return self._answers[path]

    async def send(self, method: str, path: str, body: bytes | None = None, **options: object) -> bytes:
        return self._answers[path]

    def stream(self, path: str, query: object) -> Any:
        raise NotImplementedError


def examined(
    *objects: Document, user: User = SCHEDULER, config: str | None = None, registry: Registry | None = None
) -> list[Finding]:
    server = a_guarded_server()
    create(server, *objects)
    text = None if config is None else config.encode()
    checked = CheckedConfiguration("c.yaml" if config else None, text, FeatureGates(), registry or Registry())

    async def story() -> list[Finding]:
        transport = Transport(server)
        transport.start()
        try:
            return await examine(LocalRest(transport, user), checked, now=lambda: BEGINNING)
        finally:
            transport.stop()

    return run_in_virtual_time(story())


def of(findings: list[Finding], check: str, *levels: str) -> list[Finding]:
    return [each for each in findings if each.check == check and each.level in (levels or (OK, WARN, FAIL))]


def a_system_pod(name: str, *command: str, image: str = "registry.k8s.io/kube-scheduler:v1.36.4") -> Document:
    container = {"name": "main", "image": image, "command": list(command)}
    meta = {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


def a_lease(holder: str, seconds: float) -> Document:
    renewed = (BEGINNING + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}
    meta = {"name": "kube-scheduler", "namespace": "kube-system"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}


def test_a_healthy_cluster_has_nothing_to_mend() -> None:
    pod = a_system_pod("kube-scheduler-a", "kube-scheduler", "--leader-elect=true", "--v=2")
    findings = examined(pod, a_lease("a_1", -1.0))
    assert of(findings, "rights") == of(findings, "rights", OK), findings
    assert of(findings, "leader", OK)[0].what.startswith("a_1 leads")
    assert "knows all of its 2 flags" in of(findings, "flags")[0].what
    answer = answer_of("here", findings)
    assert answer.ready
    assert answer.summary.startswith("kubesched can take over: ")


def test_missing_rights_come_with_the_rule_that_grants_them() -> None:
    failures = of(examined(user=NOBODY), "rights", FAIL)
    pods = next(each for each in failures if "list, watch pods " in each.what)
    assert "resources: [pods], verbs: [get, list, watch]" in pods.fix
    assert any("may not create pods/binding (needed by the scheduler)" in each.what for each in failures)
    granted = a_binding("b", "system:kube-scheduler", "User nobody")
    left = of(examined(granted, user=NOBODY), "rights", FAIL)
    # storage classes and writes of volumes are in the other role
    assert left
    assert all("persistentvolume" in each.what or "storageclasses" in each.what for each in left), left


class FussyArgs(msgspec.Struct, forbid_unknown_fields=True):
    """The arguments of Fussy."""

    file: str = ""


class RackPlugin(FilterPlugin):
    """Looks up a custom kind, and writes it."""

    name = "Rack"
    looks_up = ("racks.v1.example.com",)
    writes = ("racks.v1.example.com/status",)

    def filter(self, cycle: object, pod: object, node: object) -> None:
        return None


RACK = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Rack}]}}}]
"""


def test_what_plugins_look_up_and_write_is_needed() -> None:
    findings = examined(config=RACK, registry=registry_of([RackPlugin]))
    rights = [each.what for each in of(findings, "rights", FAIL)]
    assert "may not get, list, watch racks.example.com (needed by Rack)" in rights
    assert "may not patch racks/status.example.com (needed by Rack)" in rights
    (kind,) = of(findings, "custom kinds")
    assert (kind.level, "CustomResourceDefinition" in kind.fix) == (FAIL, True)


@pytest.mark.parametrize(
    ("config", "what", "fix"),
    [
        (RACK, 'c.yaml: the plugin Rack is not installed', "port it to Python"),
        (RACK.replace("Rack", "Coscheduling"), "the plugin Coscheduling", "pip install kubesched-contrib"),
        ("apiVersion: v1\nkind: ConfigMap\ndata: {}", "ConfigMap", "kubectl -n kube-system get configmap"),
        (RACK.replace("io/v1", "io/v1beta3"), "v1beta3", "write v1: "),
        (RACK.replace("profiles", "parallel"), "parallel", "config show"),
        ("{", "c.yaml: ", "config show"),
        ("kind: Policy\napiVersion: v1\n", "a scheduling policy", "kubesched config migrate c.yaml"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_used(config: str, what: str, fix: str) -> None:
    failures = of(examined(config=config), "configuration", FAIL)
    assert failures
    assert (what in failures[0].what, fix in failures[0].fix) == (True, True), failures


class Fussy(FilterPlugin):
    """Takes arguments of one form, and cannot be built without a file."""

    name = "Fussy"

    def __init__(self, args: FussyArgs) -> None:
        Path(args.file).read_bytes()

    def filter(self, cycle: object, pod: object, node: object) -> None:
        return None


FUSSY = RACK.replace("Rack", "Fussy")


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ("{file: /nowhere/at/all}", "its constructor failed with FileNotFoundError"),
        ("{files: x}", ".args.files: there is no such field"),
    ],
)
def test_a_plugin_that_cannot_be_built_is_a_finding_and_the_other_checks_are_made(args: str, what: str) -> None:
    config = FUSSY.replace("}}}]", f"}}}}, pluginConfig: [{{name: Fussy, args: {args}}}]}}]")
    findings = examined(config=config, registry=registry_of([Fussy]))
    (failure,) = of(findings, "configuration")
    assert (failure.level, what in failure.what, "pluginConfig" in failure.fix) == (FAIL, True, True), failure
    assert of(findings, "rights", OK)
    assert of(findings, "schedulers", OK)


@pytest.mark.parametrize(("percentage", "told"), [(0, True), (50, False), (100, False)])
def test_sampling_is_told_of_where_it_differs(percentage: int, told: bool) -> None:
    config = f"{RACK.partition('profiles')[0]}percentageOfNodesToScore: {percentage}\n"
    words = [each.what for each in of(examined(config=config), "configuration")]
    assert any("evaluates all nodes" in each for each in words) is told


def test_plugins_of_contrib_are_known_to_be_there() -> None:
    project = tomllib.loads((Path(__file__).parents[4] / "packages" / "contrib" / "pyproject.toml").read_text())[
        "project"
    ]
    assert set(project["entry-points"]["kubesched.plugins"]) == IN_CONTRIB


def test_all_unknown_plugins_are_named() -> None:
    config = RACK.replace("{name: Rack}", "{name: B}, {name: NodeName}, {name: A}")
    failures = of(examined(config=config), "configuration", FAIL)
    assert [each.what.split()[3] for each in failures] == ["A", "B"]


@pytest.mark.parametrize(
    ("command", "check", "level", "what"),
    [
        (["kube-scheduler", "--port=0"], "flags", WARN, "flags that kubesched does not know: --port"),
        (["/usr/local/bin/kube-scheduler", "--kubeconfig=k"], "flags", WARN, "--kubeconfig is deprecated"),
        (["kube-scheduler", "--config=/etc/s.yaml"], "flags", OK, "reads /etc/s.yaml"),
        (
            ["kube-scheduler", "--feature-gates=AllAlpha=true"],
            "feature gates",
            WARN,
            "that differ from those of kubesched",
        ),
        (["kube-scheduler", "--feature-gates=NoSuchGate=true"], "feature gates", WARN, "unknown gates: NoSuchGate"),
        (["kube-scheduler", "--feature-gates=what"], "feature gates", WARN, "missing bool value for what"),
        (["kube-scheduler", "--feature-gates", "NoSuchGate=true"], "feature gates", WARN, "unknown gates: NoSuchGate"),
        (["kube-scheduler", "--config", "/etc/s.yaml", "--v=2"], "flags", OK, "reads /etc/s.yaml"),
        (["kube-scheduler"], "feature gates", OK, "the same gates as kubesched"),
    ],
)
def test_flags_of_the_scheduler_that_runs(command: list[str], check: str, level: str, what: str) -> None:
    found = of(examined(a_system_pod("kube-scheduler-a", *command), user=ADMINISTRATOR), check, level)
    assert any(what in each.what for each in found), found


@pytest.mark.parametrize("image", ["kube-scheduler:v1.36.4", "r.example.com:5000/x/kube-scheduler@sha256:abc"])
def test_a_pod_without_a_command_runs_the_program_of_its_image(image: str) -> None:
    found = of(examined(a_system_pod("s", image=image), user=ADMINISTRATOR), "flags")
    assert "pod s: kubesched knows all of its 0 flags" in found[0].what


@pytest.mark.parametrize(
    ("holder", "seconds", "check", "level", "what"),
    [
        ("a_1", -3.0, "leader", OK, "a_1 leads"),
        ("a_1", -100.0, "leader", WARN, "has not renewed it for 100 s"),
        ("", -3.0, "leader", WARN, "no scheduler holds the Lease"),
        ("a_1", 30.0, "clock", WARN, "from 30.0 s ahead"),
        ("a_1", -100.0, "clock", WARN, "100 s old"),
        ("a_1", -3.0, "clock", OK, "3.0 s old"),
    ],
)
def test_leases_tell_who_leads_and_what_time_it_is(
    holder: str, seconds: float, check: str, level: str, what: str
) -> None:
    items = msgspec.json.encode({"items": [a_lease(holder, seconds), "nonsense"]})
    folder = "/apis/coordination.k8s.io/v1/namespaces"
    rest = Answers({f"{folder}/kube-system/leases": items, f"{folder}/kube-node-lease/leases": b"{}"})
    findings = run_in_virtual_time(check_leases(ExaminedCluster(rest), BEGINNING, ITS_LEASE, ["default-scheduler"]))
    assert any(each.level == level and what in each.what for each in of(findings, check)), findings


@pytest.mark.parametrize(
    ("election", "name", "level", "what"),
    [
        ("{}", "default-scheduler", OK, "waits for the Lease kube-scheduler"),
        ("{leaderElect: false}", "default-scheduler", FAIL, "without leader election: both would bind the same pods"),
        ("{resourceName: mine}", "default-scheduler", FAIL, "with the Lease kube-system/mine: both would bind"),
        ("{resourceName: mine}", "second", OK, "serves other names beside it, with the Lease kube-system/mine"),
        ("{leaderElect: false}", "second", OK, "serves other names beside it, without leader election"),
    ],
)
def test_two_schedulers_must_not_bind_the_same_pods(election: str, name: str, level: str, what: str) -> None:
    config = f"{RACK.partition('profiles')[0]}leaderElection: {election}\nprofiles: [{{schedulerName: {name}}}]\n"
    (leader,) = of(examined(a_lease("a_1", -1.0), config=config, user=ADMINISTRATOR), "leader")
    assert (leader.level, what in leader.what) == (level, True), leader
    assert level == OK or "resourceName: kube-scheduler" in leader.fix
    # one that has ended is no danger
    (leader,) = of(examined(a_lease("a_1", -100.0), config=config, user=ADMINISTRATOR), "leader")
    assert leader.level == WARN


@pytest.mark.parametrize(("version", "needed"), [("v1.35.9", False), ("v1.36.0", True), ("", True)])
def test_a_right_that_older_servers_do_not_know_is_not_asked_for_there(version: str, needed: bool) -> None:
    rest = Answers({"/version": msgspec.json.encode({"gitVersion": version})})
    minor = run_in_virtual_time(server_minor(ExaminedCluster(rest)))
    loaded = load_config(None)
    rights = needed_rights(engine_of(loaded, Registry()).profiles, loaded.gates, ITS_LEASE, minor)
    assert any(each.resource == "resourceclaims/binding" for each in rights) is needed


@pytest.mark.parametrize(
    ("version", "level", "what"),
    [
        ("v1.36.4", OK, "the API server is v1.36.4"),
        ("v1.33.1-gke.5", WARN, "resource.k8s.io/v1"),
        ("v1.31.0", WARN, "volumeattachments"),
        ("v1.28.0", FAIL, "tested on v1.31 and later"),
        ("v1.39.0", WARN, "more than one release ahead"),
        ("", WARN, "does not report its release"),
    ],
)
def test_releases_of_the_api_server(version: str, level: str, what: str) -> None:
    rest = Answers({"/version": msgspec.json.encode({"gitVersion": version})})
    findings = run_in_virtual_time(check_version(ExaminedCluster(rest)))
    assert any(each.level == level and what in each.what for each in findings), findings


def test_pods_that_nobody_schedules_and_second_schedulers() -> None:
    waiting = a_system_pod("w", "sleep", image="i")
    waiting["spec"]["schedulerName"] = "nobodys"
    bound = a_system_pod("b", "sleep", image="i")
    bound["spec"] |= {"schedulerName": "volcano", "nodeName": "n"}
    found = [each.what for each in of(examined(waiting, bound, user=ADMINISTRATOR), "schedulers", WARN)]
    assert found == [
        "nobodys has 1 pod waiting, and no scheduler seems to serve it",
        "volcano has 1 pod: a second scheduler, without a profile in the configuration",
    ]


def test_the_pages_of_a_scheduler_tell_its_gates_and_profiles() -> None:
    metrics = b'# TYPE x\nkubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} 0\n'
    metrics += b'kubernetes_feature_enabled{name="GenericWorkload",stage="ALPHA"} 1\n'
    configz = b'{"kubescheduler.config.k8s.io": {"Profiles": [{"SchedulerName": "default-scheduler"}]}}'
    rest = Answers({"/metrics": metrics, "/configz": configz})
    gates, config = run_in_virtual_time(check_pages(rest, "https://s", FeatureGates()))
    assert (gates.level, gates.fix) == (WARN, "give kubesched --feature-gates=GenericWorkload=true")
    assert (config.level, config.what) == (OK, "the scheduler at https://s has profiles default-scheduler in force")


@pytest.mark.parametrize(
    "configz",
    [
        b'{"a": {"profiles": 5}}',
        b'{"a": {"profiles": {"x": 1}}}',
        b'{"a": 5}',
        b"5",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 9999,
    ],
)
def test_odd_pages_of_a_scheduler_are_no_end(configz: bytes) -> None:
    rest = Answers({"/metrics": b"\xff", "/configz": configz})
    findings = run_in_virtual_time(check_pages(rest, "https://s", FeatureGates()))
    assert [each.check for each in findings] == ["feature gates", "configuration"]
    assert all(each.fix for each in findings if each.level != OK)
