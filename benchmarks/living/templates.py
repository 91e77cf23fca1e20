"""The templates of pods: specifications as Deployments have them, a mix of constraints, each with a token volume."""

from typing import Any

import msgspec

Document = dict[str, Any]
NAMESPACES = 8
ZONES = 3
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
# a pod with such a request fits on no node
TOO_MANY_CPUS = 64


class Template:
    """A pod template of a Deployment, with encoded pods that lack only names."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.namespace = f"living-{number % NAMESPACES}"
        self.app = f"app-{number:03}"
        self.milli_cpu = 50 + number % 10 * 25
        self.memory = f"{128 << number % 3}Mi"
        self.image = f"registry.example.com/team-{number % 7}/{self.app}:1.{number % 13}"
        self.selector = {"app.kubernetes.io/name": self.app}
        self.has_service = number % 2 == 0
        self._deployment = _encoded(self._pod("ReplicaSet", "apps/v1", "Always", {"pod-template-hash": "@hash@"}))
        job = {"batch.kubernetes.io/job-name": "@owner@", "job-name": "@owner@"}
        self._job = _encoded(self._pod("Job", "batch/v1", "Never", job))

    def body(self, name: str, owner: str, uid: str, template_hash: str, *, job: bool = False) -> bytes:
        """Return the encoded pod of a ReplicaSet, or of a Job."""
        found = (self._job if job else self._deployment).replace(b"@name@", name.encode())
        found = found.replace(b"@owner@", owner.encode()).replace(b"@uid@", uid.encode())
        return found.replace(b"@hash@", template_hash.encode()).replace(b"@token@", name[-5:].encode())

    def _pod(self, kind: str, version: str, restart_policy: str, labels: Document) -> Document:
        own = {
            **({} if kind == "Job" else self.selector),
            "app.kubernetes.io/part-of": f"product-{self.number % 7}",
            "app.kubernetes.io/version": f"1.{self.number % 13}",
            "tier": ("web", "worker", "cache")[self.number % 3],
            **labels,
        }
        owner = {"apiVersion": version, "kind": kind, "name": "@owner@", "uid": "@uid@"}
        meta = {
            "name": "@name@",
            "namespace": self.namespace,
            "labels": own,
            "annotations": {"example.com/revision": str(self.number), "prometheus.io/scrape": "true"},
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        }
        spec = {**_common(self), "restartPolicy": restart_policy}
        if kind != "Job":
            spec |= constraints(self.number, self.selector)
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def daemon_body(template: Template, name: str, owner: str, uid: str, node: str) -> bytes:
    """Return the encoded pod of a DaemonSet: a node affinity with the name of one node."""
    pod = msgspec.json.decode(template.body(name, owner, uid, "daemon"))
    pod["metadata"]["ownerReferences"][0]["kind"] = "DaemonSet"
    spec = pod["spec"]
    spec.pop("topologySpreadConstraints", None)
    fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    term = {"nodeSelectorTerms": [{"matchFields": fields}]}
    spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
    spec["tolerations"] = [{"operator": "Exists", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    return msgspec.json.encode(pod)


def stuck_body(template: Template, name: str, owner: str, uid: str) -> bytes:
    """Return an encoded pod that fits on no node."""
    pod = msgspec.json.decode(template.body(name, owner, uid, "stuck"))
    resources = pod["spec"]["containers"][0]["resources"]
    resources["requests"]["cpu"] = resources["limits"]["cpu"] = str(TOO_MANY_CPUS)
    return msgspec.json.encode(pod)


def constraints(number: int, selector: dict[str, str]) -> Document:
    """Return where the pods of a template may run: half of them anywhere, the others by one constraint each."""
    matched = {"matchLabels": selector}
    spread = {"maxSkew": 5, "topologyKey": ZONE, "labelSelector": matched}
    kind = number % 8
    if kind == 1:
        return {"topologySpreadConstraints": [{**spread, "whenUnsatisfiable": "ScheduleAnyway"}]}
    if kind == 2:
        term = {"weight": 10, "podAffinityTerm": {"labelSelector": matched, "topologyKey": HOST}}
        return {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}}
    if kind == 3:
        values = [f"zone-{turn}" for turn in range(ZONES) if turn != number % ZONES]
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": values}]}]
        required = {"nodeSelectorTerms": terms}
        return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
    if kind == 5:
        return {"topologySpreadConstraints": [{**spread, "whenUnsatisfiable": "DoNotSchedule"}]}
    return {}


def _common(template: Template) -> Document:
    """Return the specification that all pods of a template share, with the defaults of an API server."""
    mount = {"name": "kube-api-access-@token@", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    amounts = {"cpu": f"{template.milli_cpu}m", "memory": template.memory}
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10}
    container = {
        "name": "main",
        "image": template.image,
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "PORT", "value": "8080"}],
        "resources": {"requests": amounts, "limits": {"cpu": "4", "memory": template.memory}},
        "readinessProbe": probe,
        "livenessProbe": probe,
        "volumeMounts": [{**mount, "readOnly": True}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    away = [f"node.kubernetes.io/{state}" for state in ("not-ready", "unreachable")]
    field = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    root = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    sources: list[Document] = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": root},
        {"downwardAPI": {"items": [field]}},
    ]
    return {
        "containers": [container],
        "volumes": [{"name": "kube-api-access-@token@", "projected": {"sources": sources, "defaultMode": 420}}],
        "tolerations": [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in away
        ],
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
    }


def _encoded(document: Document) -> bytes:
    return msgspec.json.encode(document)
