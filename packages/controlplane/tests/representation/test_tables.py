"""Objects as rows: the columns people know, for every kind; lists, watches, and metadata alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from tests.support.api import Asking, Document, events_of
from tests.support.good_objects import GOOD, an_api, good, path_of

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.representation.tables import printer_of
from kubesched_controlplane.representation.tables.printing import human_duration
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.server.verbs.watching import Watch

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
EARLIER = (NOW - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def row(prefix: str, document: Document) -> dict[str, Any]:
    """Return the cells of an object that is five minutes old, by the names of their columns."""
    resource = next(each for each in ApiServer(access=always_allow).registry.catalog.resources if each.prefix == prefix)
    printer = printer_of(resource)
    meta = {"name": "x", "creationTimestamp": EARLIER, **document.get("metadata", {})}
    cells = printer.cells({**document, "metadata": meta}, NOW)
    assert len(cells) == len(printer.columns)
    return {column.name: cell for column, cell in zip(printer.columns, cells, strict=True)}


def wanted(api: Asking, path: str, accept: str, **query: str) -> Response | Watch:
    options = {name: [value] for name, value in query.items()}
    return api.server.handle(Request("GET", path, options, {"accept": accept}))


def table(api: Asking, path: str, accept: str = TABLE, **query: str) -> Document:
    found = wanted(api, path, accept, **query)
    assert isinstance(found, Response)
    document: Document = found.document()
    assert found.code == 200, document
    return document


# -- pods


def container(**state: Any) -> Document:
    return {"name": "c", "state": state, **({"ready": True} if "running" in state else {})}


ENDED, RUNNING = {"exitCode": 0, "reason": "Completed"}, {"startedAt": EARLIER}
PODS: list[tuple[str, Document, dict[str, Any]]] = [
    (
        "a new one",
        {"status": {"phase": "Pending"}},
        {"Ready": "0/1", "Status": "Pending", "Restarts": "0", "Age": "5m"},
    ),
    (
        "one that runs",
        {"status": {"phase": "Running", "containerStatuses": [container(running=RUNNING)]}},
        {"Ready": "1/1", "Status": "Running"},
    ),
    (
        "one that waits for its image",
        {"status": {"phase": "Pending", "containerStatuses": [container(waiting={"reason": "ImagePullBackOff"})]}},
        {"Ready": "0/1", "Status": "ImagePullBackOff"},
    ),
    (
        "one that is done",
        {"status": {"phase": "Succeeded", "containerStatuses": [container(terminated=ENDED)]}},
        {"Ready": "0/1", "Status": "Completed"},
    ),
    (
        "one that failed without a word",
        {"status": {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 3})]}},
        {"Status": "ExitCode:3"},
    ),
    (
        "one that a signal ended",
        {"status": {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 1, "signal": 9})]}},
        {"Status": "Signal:9"},
    ),
    ("one with a reason", {"status": {"phase": "Failed", "reason": "Evicted"}}, {"Status": "Evicted"}),
    (
        "one that waits for its gates",
        {"status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}},
        {"Status": "SchedulingGated"},
    ),
    (
        "one that is going",
        {"metadata": {"deletionTimestamp": EARLIER}, "status": {"phase": "Running"}},
        {"Status": "Terminating"},
    ),
    (
        "one that is over and going",
        {"metadata": {"deletionTimestamp": EARLIER}, "status": {"phase": "Succeeded"}},
        {"Status": "Succeeded"},
    ),
    (
        "one whose node is lost",
        {"metadata": {"deletionTimestamp": EARLIER}, "status": {"phase": "Running", "reason": "NodeLost"}},
        {"Status": "Unknown"},
    ),
    (
        "one that was restarted",
        {
            "status": {
                "phase": "Running",
                "containerStatuses": [
                    {
                        **container(running=RUNNING),
                        "restartCount": 3,
                        "lastState": {"terminated": {"finishedAt": EARLIER}},
                    }
                ],
            }
        },
        {"Restarts": "3 (5m ago)", "Status": "Running"},
    ),
    (
        "one whose first init container runs",
        {
            "spec": {"initContainers": [{"name": "i"}, {"name": "j"}], "containers": [{"name": "c"}]},
            "status": {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": RUNNING}}]},
        },
        {"Status": "Init:0/2", "Ready": "0/1"},
    ),
    (
        "one whose init container fails",
        {
            "spec": {"initContainers": [{"name": "i"}], "containers": [{"name": "c"}]},
            "status": {
                "phase": "Pending",
                "initContainerStatuses": [{"name": "i", "restartCount": 2, "state": {"terminated": {"exitCode": 1}}}],
            },
        },
        {"Status": "Init:ExitCode:1", "Restarts": "2"},
    ),
    (
        "one with a sidecar",
        {
            "spec": {"initContainers": [{"name": "s", "restartPolicy": "Always"}], "containers": [{"name": "c"}]},
            "status": {
                "phase": "Running",
                "initContainerStatuses": [{"name": "s", "started": True, "ready": True, "state": {"running": RUNNING}}],
                "containerStatuses": [container(running=RUNNING)],
            },
        },
        {"Status": "Running", "Ready": "2/2"},
    ),
    (
        "one of whose containers one is done",
        {
            "spec": {"containers": [{"name": "c"}, {"name": "d"}]},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [container(terminated=ENDED), container(running=RUNNING)],
            },
        },
        {"Status": "Running", "Ready": "1/2"},
    ),
    (
        "where it is",
        {
            "spec": {"nodeName": "n", "containers": [{"name": "c"}], "readinessGates": [{"conditionType": "a"}]},
            "status": {
                "podIPs": [{"ip": "10.0.0.1"}],
                "nominatedNodeName": "m",
                "conditions": [{"type": "a", "status": "True"}],
            },
        },
        {"IP": "10.0.0.1", "Node": "n", "Nominated Node": "m", "Readiness Gates": "1/1"},
    ),
    (
        "nowhere",
        {},
        {"IP": "<none>", "Node": "<none>", "Nominated Node": "<none>", "Readiness Gates": "<none>"},
    ),
]


@pytest.mark.parametrize(("what", "pod", "cells"), PODS, ids=[each[0] for each in PODS])
def test_pods(what: str, pod: Document, cells: dict[str, Any]) -> None:
    del what
    found = row("pods", {"spec": {"containers": [{"name": "c"}]}, **pod})
    assert {name: found[name] for name in cells} == cells


# -- other kinds

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
TEMPLATE = {
    "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}], "nodeSelector": {"a": "b"}}
}
SELECTOR = {"matchLabels": {"a": "b"}}
OTHERS: list[tuple[str, str, Document, dict[str, Any]]] = [
    ("a node", "nodes", {"status": READY}, {"Status": "Ready", "Roles": "<none>", "Internal-IP": "<none>"}),
    ("a node nobody has heard of", "nodes", {}, {"Status": "Unknown", "Version": "", "OS-Image": "<unknown>"}),
    (
        "a node that is cordoned",
        "nodes",
        {
            "metadata": {"labels": {"node-role.kubernetes.io/b": "", "kubernetes.io/role": "a"}},
            "spec": {"unschedulable": True},
            "status": {
                "conditions": [{"type": "Ready", "status": "Unknown"}],
                "nodeInfo": {"kubeletVersion": "v1", "kernelVersion": "6", "architecture": "arm64"},
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            },
        },
        {
            "Status": "NotReady,SchedulingDisabled",
            "Roles": "a,b",
            "Version": "v1",
            "Kernel-Version": "6 (arm64)",
            "Internal-IP": "10.0.0.1",
        },
    ),
    ("a namespace", "namespaces", {"status": {"phase": "Active"}}, {"Status": "Active", "Age": "5m"}),
    (
        "a deployment",
        "deployments.apps",
        {
            "spec": {"replicas": 3, "template": TEMPLATE, "selector": SELECTOR},
            "status": {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
        },
        {"Ready": "1/3", "Up-to-date": 2, "Available": 1, "Containers": "c,d", "Images": "i,j", "Selector": "a=b"},
    ),
    (
        "a replica set",
        "replicasets.apps",
        {"spec": {"replicas": 3, "template": TEMPLATE, "selector": SELECTOR}, "status": {"replicas": 2}},
        {"Desired": 3, "Current": 2, "Ready": 0, "Selector": "a=b"},
    ),
    (
        "a stateful set",
        "statefulsets.apps",
        {"spec": {"replicas": 2}, "status": {"readyReplicas": 1}},
        {"Ready": "1/2"},
    ),
    (
        "a daemon set",
        "daemonsets.apps",
        {"spec": {"template": TEMPLATE}, "status": {"desiredNumberScheduled": 2, "numberReady": 1}},
        {"Desired": 2, "Ready": 1, "Current": 0, "Node Selector": "a=b"},
    ),
    (
        "a job",
        "jobs.batch",
        {"spec": {"completions": 3}, "status": {"succeeded": 1, "startTime": EARLIER}},
        {"Status": "Running", "Completions": "1/3", "Duration": "5m"},
    ),
    (
        "a job that is done",
        "jobs.batch",
        {
            "spec": {"parallelism": 4},
            "status": {
                "startTime": EARLIER,
                "completionTime": EARLIER,
                "conditions": [{"type": "Complete", "status": "True"}],
            },
        },
        {"Status": "Complete", "Completions": "0/1 of 4", "Duration": "0s"},
    ),
    (
        "a cron job",
        "cronjobs.batch",
        {"spec": {"schedule": "* * * * *", "suspend": False}, "status": {"active": [{}], "lastScheduleTime": EARLIER}},
        {"Schedule": "* * * * *", "Timezone": "<none>", "Suspend": "False", "Active": 1, "Last Schedule": "5m"},
    ),
    (
        "a service",
        "services",
        {"spec": {"type": "ClusterIP", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 80, "protocol": "TCP"}]}},
        {"Type": "ClusterIP", "Cluster-IP": "10.0.0.1", "External-IP": "<none>", "Port(s)": "80/TCP"},
    ),
    (
        "a service on nodes",
        "services",
        {"spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000, "protocol": "TCP"}]}},
        {"Port(s)": "80:30000/TCP", "Cluster-IP": "<none>"},
    ),
    ("a service that waits", "services", {"spec": {"type": "LoadBalancer"}}, {"External-IP": "<pending>"}),
    (
        "endpoints",
        "endpoints",
        {"subsets": [{"addresses": [{"ip": f"10.0.0.{n}"} for n in range(1, 6)], "ports": [{"port": 80}]}]},
        {"Endpoints": "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more..."},
    ),
    (
        "a claim",
        "persistentvolumeclaims",
        {
            "spec": {"volumeName": "v", "storageClassName": "s", "volumeMode": "Filesystem"},
            "status": {
                "phase": "Bound",
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
            },
        },
        {"Status": "Bound", "Volume": "v", "Capacity": "1Gi", "Access Modes": "RWO,RWX", "StorageClass": "s"},
    ),
    (
        "a volume",
        "persistentvolumes",
        {
            "spec": {"capacity": {"storage": "1Gi"}, "claimRef": {"namespace": "n", "name": "c"}},
            "status": {"phase": "Bound"},
        },
        {"Capacity": "1Gi", "Claim": "n/c", "Status": "Bound", "VolumeAttributesClass": "<unset>"},
    ),
    (
        "a storage class",
        "storageclasses.storage.k8s.io",
        {"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "p"},
        {"Name": "x (default)", "Provisioner": "p", "ReclaimPolicy": "Delete", "AllowVolumeExpansion": False},
    ),
    (
        "an event",
        "events",
        {
            "involvedObject": {"kind": "Pod", "name": "p"},
            "type": "Warning",
            "reason": "R",
            "message": " m ",
            "eventTime": EARLIER,
            "reportingComponent": "c",
        },
        {"Last Seen": "5m", "Object": "pod/p", "Message": "m", "Count": 1, "Source": "c", "Reason": "R"},
    ),
    (
        "an event of a series",
        "events",
        {"involvedObject": {"kind": "Pod"}, "series": {"count": 7, "lastObservedTime": EARLIER}},
        {"Last Seen": "5m", "First Seen": "<unknown>", "Count": 7, "Object": "pod"},
    ),
    ("a lease", "leases.coordination.k8s.io", {"spec": {"holderIdentity": "me"}}, {"Holder": "me"}),
    (
        "a budget",
        "poddisruptionbudgets.policy",
        {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 2}},
        {"Min Available": "50%", "Max Unavailable": "N/A", "Allowed Disruptions": 2},
    ),
    ("a priority", "priorityclasses.scheduling.k8s.io", {"value": 5}, {"Value": 5, "Global-Default": False}),
    (
        "a claim to devices",
        "resourceclaims.resource.k8s.io",
        {"status": {"allocation": {}, "reservedFor": [{}]}},
        {"State": "allocated,reserved"},
    ),
    ("a claim that waits", "resourceclaims.resource.k8s.io", {}, {"State": "pending"}),
    (
        "devices",
        "resourceslices.resource.k8s.io",
        {"spec": {"nodeName": "n", "driver": "d", "pool": {"name": "p"}}},
        {"Node": "n", "Driver": "d", "Pool": "p"},
    ),
    (
        "a binding of a role",
        "rolebindings.rbac.authorization.k8s.io",
        {
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "namespace": "n", "name": "s"}],
        },
        {"Role": "Role/r", "Users": "u", "Groups": "", "ServiceAccounts": "n/s"},
    ),
    ("a role", "roles.rbac.authorization.k8s.io", {}, {"Created At": EARLIER}),
    ("a config map", "configmaps", {"data": {"a": "b"}, "binaryData": {"c": ""}}, {"Data": 2}),
    ("a secret", "secrets", {"type": "Opaque", "data": {"a": ""}}, {"Type": "Opaque", "Data": 1}),
    (
        "an autoscaler",
        "horizontalpodautoscalers.autoscaling",
        {
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                "maxReplicas": 5,
                "metrics": [
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}},
                ],
            },
            "status": {"currentReplicas": 2},
        },
        {
            "Reference": "Deployment/d",
            "Targets": "cpu: <unknown>/80%",
            "MinPods": "<unset>",
            "MaxPods": 5,
            "Replicas": 2,
        },
    ),
    (
        "a quota",
        "resourcequotas",
        {"status": {"hard": {"pods": "5", "limits.cpu": "2"}, "used": {"pods": "1"}}},
        {"Request": "pods: 1/5", "Limit": "limits.cpu: 0/2"},
    ),
]


@pytest.mark.parametrize(("what", "prefix", "document", "cells"), OTHERS, ids=[each[0] for each in OTHERS])
def test_other_kinds(what: str, prefix: str, document: Document, cells: dict[str, Any]) -> None:
    del what
    found = row(prefix, document)
    assert {name: found[name] for name in cells} == cells


@pytest.mark.parametrize("kind", GOOD)
def test_every_kind_has_a_table(kind: str) -> None:
    # ages are those of one moment
    api = an_api(ApiServer(access=always_allow, seed=1, clock=lambda: NOW))
    made = api.ok("POST", path_of(kind), good(kind))
    one, many = table(api, path_of(kind, "a")), table(api, path_of(kind))
    for found in (one, many):
        assert (found["kind"], found["apiVersion"]) == ("Table", "meta.k8s.io/v1")
        names = [column["name"] for column in found["columnDefinitions"]]
        assert names[-1 if names[0] == "Last Seen" else 0] == "Name"
        assert all(
            column.keys() == {"name", "type", "format", "description", "priority"}
            for column in found["columnDefinitions"]
        )
        for each in found["rows"]:
            assert len(each["cells"]) == len(names)
    (here,) = (each for each in many["rows"] if each["object"]["metadata"]["name"] == "a")
    assert here["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert one["rows"] == [here]


DURATIONS = [
    (-5, "<invalid>"),
    (-1, "0s"),
    (0.9, "0s"),
    (119, "119s"),
    (120, "2m"),
    (599, "9m59s"),
    (600, "10m"),
    (3 * 3600 - 1, "179m"),
    (3 * 3600, "3h"),
    (8 * 3600 - 60, "7h59m"),
    (8 * 3600, "8h"),
    (48 * 3600, "2d"),
    (49 * 3600, "2d1h"),
    (8 * 86400, "8d"),
    (2 * 365 * 86400, "2y"),
    (2 * 365 * 86400 + 86400, "2y1d"),
    (9 * 365 * 86400, "9y"),
]


@pytest.mark.parametrize(("seconds", "text"), DURATIONS)
def test_durations_as_people_say_them(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


# -- lists and watches


@pytest.fixture
def api() -> Asking:
    asking = Asking()
    asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    for name in ("a", "b"):
        asking.ok(
            "POST", MAPS, {"metadata": {"name": name, "labels": {"is": name}}, "data": {"k": "v"}}, fieldManager="me"
        )
    return asking


INCLUDED = [
    ("", "PartialObjectMetadata"),
    ("Metadata", "PartialObjectMetadata"),
    ("Object", "ConfigMap"),
    ("None", None),
]


@pytest.mark.parametrize(("included", "kind"), INCLUDED)
def test_what_is_in_a_row(api: Asking, included: str, kind: str | None) -> None:
    found = table(api, MAPS, includeObject=included)
    assert [each["cells"][:2] for each in found["rows"]] == [["a", 1], ["b", 1]]
    assert [each["object"] and each["object"]["kind"] for each in found["rows"]] == [kind, kind]


def test_a_row_with_something_else_is_refused(api: Asking) -> None:
    found = wanted(api, MAPS, TABLE, includeObject="Everything")
    assert isinstance(found, Response)
    assert (found.code, "must be 'Metadata', 'Object', 'None', or empty" in found.document()["message"]) == (400, True)


def test_tables_come_in_pages_and_by_selectors(api: Asking) -> None:
    page = table(api, MAPS, limit="1")
    assert (len(page["rows"]), page["metadata"]["remainingItemCount"]) == (1, 1)
    rest = table(api, MAPS, **{"limit": "1", "continue": page["metadata"]["continue"]})
    assert [each["cells"][0] for each in rest["rows"]] == ["b"]
    assert [each["cells"][0] for each in table(api, MAPS, labelSelector="is=b")["rows"]] == ["b"]


def test_of_a_watch_the_first_table_has_columns(api: Asking) -> None:
    options = {"watch": "true", "allowWatchBookmarks": "true"}
    watch = wanted(api, MAPS, TABLE, **options)
    assert isinstance(watch, Watch)
    api.ok("PATCH", f"{MAPS}/a", {"data": {"l": "w"}}, "application/merge-patch+json")
    api.ok("DELETE", f"{MAPS}/b")
    api.server.watching.bookmark()
    events = events_of(watch)
    assert [kind for kind, _ in events] == ["ADDED", "ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    assert [found["columnDefinitions"] is None for _, found in events] == [False, True, True, True, True]
    assert [found["rows"][0]["cells"][0] for _, found in events] == ["a", "b", "a", "b", ""]
    assert events[2][1]["rows"][0]["cells"][1] == 2


def test_what_begins_and_ceases_to_match_is_added_and_deleted_in_tables_too(api: Asking) -> None:
    watch = wanted(api, MAPS, TABLE, watch="true", labelSelector="is=a")
    assert isinstance(watch, Watch)
    for label in ("x", "a"):
        api.ok("PATCH", f"{MAPS}/a", {"metadata": {"labels": {"is": label}}}, "application/merge-patch+json")
    assert [(kind, found["rows"][0]["cells"][0]) for kind, found in events_of(watch)] == [
        ("ADDED", "a"),
        ("DELETED", "a"),
        ("ADDED", "a"),
    ]


def test_metadata_alone(api: Asking) -> None:
    one = table(api, f"{MAPS}/a", METADATA)
    assert one.keys() == {"kind", "apiVersion", "metadata"}
    assert (one["kind"], one["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert one["metadata"] == api.ok("GET", f"{MAPS}/a")["metadata"], "with the owners of its fields"
    many = table(api, MAPS, METADATA_LIST)
    assert many["kind"] == "PartialObjectMetadataList"
    assert many["items"][0] == one
    watch = wanted(api, MAPS, METADATA, watch="true")
    assert isinstance(watch, Watch)
    assert events_of(watch)[0] == ("ADDED", one)


NEGOTIATIONS = [
    ("the plain form, where nothing is said", "", 200, "ConfigMapList"),
    (
        "the first that there is",
        "application/json;as=Unicorn;v=v1;g=meta.k8s.io,application/json",
        200,
        "ConfigMapList",
    ),
    ("the one that is wanted most", f"application/json;q=0.5,{TABLE}", 200, "Table"),
    ("any", "text/html,*/*;q=0.1", 200, "ConfigMapList"),
    ("an old version", "application/json;as=Table;v=v1beta1;g=meta.k8s.io", 200, "Table"),
    ("nothing that there is", "application/json;as=Unicorn;v=v1;g=meta.k8s.io", 406, "Status"),
    ("another form", "application/cbor", 406, "Status"),
    ("one object, where there are many", METADATA, 406, "Status"),
]


@pytest.mark.parametrize(("what", "accept", "code", "kind"), NEGOTIATIONS, ids=[each[0] for each in NEGOTIATIONS])
def test_negotiations(api: Asking, what: str, accept: str, code: int, kind: str) -> None:
    del what
    found = wanted(api, MAPS, accept)
    assert isinstance(found, Response)
    assert (found.code, found.document()["kind"]) == (code, kind)


def test_owners_are_everywhere_but_where_they_are_not_wanted(api: Asking) -> None:
    for path in (f"{MAPS}/a", MAPS):
        assert b"managedFields" in b"".join(api.raw("GET", path).chunks)
    watch = api.watch(MAPS)
    assert b"managedFields" in watch.take()
    found = wanted(api, MAPS, "application/json;as=Unowned;v=v1;g=kubesched.io,application/json")
    assert isinstance(found, Response)
    assert b"managedFields" not in b"".join(found.chunks)
    assert len(msgspec.json.decode(b"".join(found.chunks))["items"]) == 2
