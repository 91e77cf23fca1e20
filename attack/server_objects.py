"""Objects, patches and definitions for the embedded API server, by somebody who may write them."""

import json
from typing import Any

from attack.attacks import attack, expect
from attack.processes import until
from attack.targets import PODS, Cluster, a_pod

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def a_definition(plural: str, kind: str, group: str = "attack.example.com", schema: Any = None) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema or OPEN}}
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "https://example.com"}},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


@attack(Cluster)
def definitions_of_built_in_kinds(cluster: Cluster) -> str:
    """A definition takes the name of the kind of definitions: other definitions are served as before."""
    hostile = a_definition("customresourcedefinitions", "CustomResourceDefinition", "apiextensions.k8s.io")
    status = cluster.api.ask("POST", DEFINITIONS, hostile)[0]
    cluster.api.ask("POST", DEFINITIONS, a_definition("things", "Thing"))
    path = "/apis/attack.example.com/v1/namespaces/default/things"
    thing = {"apiVersion": "attack.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
    until(lambda: cluster.api.ask("POST", path, thing)[0] in (201, 409), "a defined kind is served", 20)
    for name in ("customresourcedefinitions.apiextensions.k8s.io", "things.attack.example.com"):
        cluster.api.ask("DELETE", f"{DEFINITIONS}/{name}")
    return f"{status}"


@attack(Cluster)
def expensive_schemas(cluster: Cluster) -> str:
    """A schema has a pattern that takes for ever, a deep tree, and a rule without end."""
    pattern = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}},
    }
    cluster.api.ask("POST", DEFINITIONS, a_definition("slows", "Slow", schema=pattern))
    path = "/apis/attack.example.com/v1/namespaces/default/slows"
    slow = {
        "apiVersion": "attack.example.com/v1",
        "kind": "Slow",
        "metadata": {"name": "s"},
        "spec": {"a": "a" * 50_000 + "!"},
    }
    found = [until(lambda: (status := cluster.api.ask("POST", path, slow)[0]) != 404 and status, "it is served", 20)]
    deep: Any = {"type": "string"}
    for _ in range(150):
        deep = {"type": "object", "properties": {"a": deep}}
    found.append(cluster.api.ask("POST", DEFINITIONS, a_definition("deeps", "Deep", schema=deep))[0])
    rule = {**OPEN, "x-kubernetes-validations": [{"rule": "[1,2,3,4,5,6,7,8,9].all(a, " * 12 + "true" + ")" * 12}]}
    found.append(cluster.api.ask("POST", DEFINITIONS, a_definition("rules", "Rule", schema=rule))[0])
    for name in ("slows", "deeps", "rules"):
        cluster.api.ask("DELETE", f"{DEFINITIONS}/{name}.attack.example.com")
    expect(500 not in found, f"{found}")
    return f"{found}"


@attack(Cluster)
def patches_that_double(cluster: Cluster) -> str:
    """A JSON patch of two kilobytes copies a value into itself 40 times."""
    cluster.api.ask(
        "POST",
        CONFIG_MAPS,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "x" * 1000}},
    )
    patch: list[dict[str, Any]] = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "x"}}]
    for number in range(40):
        patch.append({"op": "copy", "from": "/metadata", "path": f"/metadata/annotations/a{number}"})
    status, found, _ = cluster.api.ask(
        "PATCH", f"{CONFIG_MAPS}/c", patch, {"Content-Type": "application/json-patch+json"}
    )
    cluster.delete_all(f"{CONFIG_MAPS}/c")
    expect(status in (400, 413, 422), f"{status} {str(found)[:200]}")
    return f"{status}"


@attack(Cluster)
def odd_documents(cluster: Cluster) -> str:
    """Bodies are deep, doubled, endless numbers and YAML that names a billion values."""
    aliases = "\n".join(["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)])
    bodies: list[tuple[str, bytes, str]] = [
        ("POST", b"[" * 200_000, "application/json"),
        ("POST", b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "application/json"),
        (
            "POST",
            b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},"spec":{"priority":' + b"9" * 100_000 + b"}}",
            "application/json",
        ),
        ("POST", b"{" + b",".join(b'"a%d":1' % number for number in range(200_000)) + b"}", "application/json"),
        ("POST", aliases.encode(), "application/yaml"),
        ("PATCH", aliases.encode(), "application/apply-patch+yaml"),
    ]
    found = []
    for method, body, kind in bodies:
        path = PODS if method == "POST" else f"{PODS}/x?fieldManager=a"
        found.append(cluster.api.ask(method, path, body, {"Content-Type": kind})[0])
    expect(all(400 <= status < 500 for status in found), f"{found}")
    return f"{found}"


@attack(Cluster)
def webhooks_to_elsewhere(cluster: Cluster) -> str:
    """A webhook leads to files, to plain HTTP, and to the server itself."""
    found = []
    for url in (
        "file:///etc/passwd",
        "http://127.0.0.1:1/",
        "https://me:pass@127.0.0.1:1/",
        f"https://127.0.0.1:{cluster.api.port}/#x",
    ):
        hook = {
            "name": "a.attack.example.com",
            "clientConfig": {"url": url},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
        }
        body = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "hooks"},
            "webhooks": [hook],
        }
        found.append(cluster.api.ask("POST", HOOKS, body)[0])
        cluster.api.ask("DELETE", f"{HOOKS}/hooks")
    expect(set(found) == {422}, f"{found}")
    return f"{found}"


@attack(Cluster)
def floods_of_objects(cluster: Cluster) -> str:
    """A tenant makes and deletes 300 objects of 100 kB."""
    for number in range(300):
        text = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"c{number}"},
            "data": {"a": "x" * 100_000},
        }
        cluster.api.ask("POST", CONFIG_MAPS, text)
    cluster.delete_all(CONFIG_MAPS)
    return f"{len(json.dumps(text))} bytes each"


@attack(Cluster)
def forged_continuations(cluster: Cluster) -> str:
    """A client forges the token of the next page of a list."""
    cluster.api.ask("POST", PODS, a_pod("listed", nodeName="n-of-nobody"))
    found = [
        cluster.api.ask("GET", f"{CONFIG_MAPS}?limit=1&continue={token}")[0]
        for token in ("x", "e30", "a" * 10_000, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4vIn0")
    ]
    cluster.delete_all(f"{PODS}/listed")
    expect(all(400 <= status < 500 for status in found), f"{found}")
    return f"{found}"
