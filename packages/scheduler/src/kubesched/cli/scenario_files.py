"""Scenarios in whole files: YAML, and JSON as people and kubectl write it.

In: a file. Out: a line for `kubesched evaluate`; manifests become a scenario that judges all pods without a node.
"""

from pathlib import Path
from typing import Any

import msgspec

from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest, read

YAML_SUFFIXES = (".yaml", ".yml")
# a scenario is not an object: it has no kind, but one of these fields
_SCENARIO_FIELDS = frozenset({"objects", "pods", "config", "plugin", "expression", "table", "input"})


def whole_document(path: Path) -> bytes | None:
    """Return the question in a file as one line; None if the file has one scenario a line. KubeschedError if it is
    unreadable.
    """
    if path.suffix not in YAML_SUFFIXES and not _is_long_json(path):
        return None
    manifests, problems = read([str(path)])
    if problems:
        raise KubeschedError("; ".join(problems))
    first = manifests[0].document if manifests else {}
    if len(manifests) == 1 and "kind" not in first and _SCENARIO_FIELDS & first.keys():
        return msgspec.json.encode(first)
    return msgspec.json.encode(_scenario(str(path), manifests))


def _is_long_json(path: Path) -> bool:
    """Return whether a file is one JSON document over many lines."""
    if path.suffix != ".json":
        return False
    try:
        with path.open("rb") as stream:
            msgspec.json.decode(stream.readline(1 << 20))
    except msgspec.DecodeError:
        return True
    except (OSError, UnicodeDecodeError):
        # the reader of lines reports it
        return False
    return False


def _scenario(source: str, manifests: list[Manifest]) -> dict[str, Any]:
    """Return the scenario of manifests: the objects, and the pods to judge."""
    pods = [each.document for each in manifests if each.kind == "Pod"]
    waiting = [_name(pod) for pod in pods if not _spec(pod).get("nodeName") and not _is_over(pod)]
    if not waiting:
        raise KubeschedError(
            f"{source}: every pod in it has a node, so there is nothing to judge; a scenario names pods under "
            "`pods`, and `kubesched try` places pods of Deployments and the like"
        )
    objects = [_in_namespace(each.document) for each in manifests]
    return {"name": source, "objects": objects, "pods": waiting}


def _spec(pod: dict[str, Any]) -> dict[str, Any]:
    spec = pod.get("spec")
    return spec if isinstance(spec, dict) else {}


def _is_over(pod: dict[str, Any]) -> bool:
    status = pod.get("status")
    return isinstance(status, dict) and status.get("phase") in ("Succeeded", "Failed")


def _name(pod: dict[str, Any]) -> str:
    meta = pod.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return f"{meta.get('namespace') or 'default'}/{meta.get('name', '')}"


def _in_namespace(document: dict[str, Any]) -> dict[str, Any]:
    """Return an object with a server's defaults: a pod gets a namespace and a scheduler."""
    meta = document.get("metadata")
    if document.get("kind") != "Pod" or not isinstance(meta, dict):
        return document
    spec = {"schedulerName": "default-scheduler", **_spec(document)}
    return {**document, "metadata": {**meta, "namespace": meta.get("namespace") or "default"}, "spec": spec}
