"""Remedies of unschedulable pods of the conformance corpus, sent to an API server: accepted, and the pod has its node.

Unlike the search, which asks for dry runs of one change, this stores the cluster's objects, sends each change as the
verb that it is, and judges the cluster that is stored then.
"""

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.remedy_proofs import applied, best_nodes, model_of, preempting_place

from kubesched.api.kinds import flattened, is_foreign
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.conformance.groups import PREFIX
from kubesched.core.assembly import load_config
from kubesched.errors import KubeschedError
from kubesched.reports.answers import ObjectChange
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.search import find_remedies
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.media_types import JSON_PATCH
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

DATA = Path(__file__).parents[4] / "packages/scheduler/tests" / "conformance" / "data"
# file -> every how many lines one is looked at, in the quick test
FILES = {
    "dynamic-resources": 160,
    "inter-pod-affinity": 60,
    "node-affinity": 60,
    "ports": 40,
    "preemption": 120,
    "resources": 60,
    "taints": 40,
    "topology-spread": 80,
    "volumes": 60,
}
# times as many lines in the slow one
MORE = 5
_OF_PRIORITY = ("priority", "priorityClassName", "preemptionPolicy")
_OF_THE_SERVER = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation")


def scenarios(file: str, step: int) -> Iterator[tuple[list[Document], Loaded, list[str]]]:
    """Yield documents, configuration and the names of unschedulable pods."""
    with gzip.open(DATA / f"{file}.jsonl.gz") as stream:
        for line in map(msgspec.json.decode, islice(stream, 0, None, step)):
            config = line.get("config")
            text = msgspec.json.encode(config).decode() if isinstance(config, dict) else config
            documents = [dict(each) for each in flattened(line.get("objects") or ()) if not is_foreign(each)]
            try:
                loaded = load_config(text, FeatureGates(line.get("featureGates") or {}), validate=False)
                model = model_of(documents, loaded)
            except (ConfigError, KubeschedError):
                continue
            asked = [name for name in line.get("pods") or () if not name.startswith(PREFIX) and name in model.pods]
            waiting = [name for name in asked if not model.pods[name].spec.node_name]
            yield documents, loaded, [name for name in waiting if not best_nodes(documents, loaded, name)]


class Cluster:
    """An API server with one object at a time, as the cluster has it."""

    def __init__(self) -> None:
        tokens = StaticTokens({})
        self._client = LocalClient(
            ApiServer(access=lambda registry: RoleBasedAccess(registry, tokens), seed=0), ADMINISTRATOR
        )
        self._namespaces: set[str] = set()

    def verdict(self, change: ObjectChange, documents: list[Document]) -> str:
        """Send a change; return `accepted`, why it is refused, or `unjudged` for an object that no server accepts."""
        if change.delete:
            return "accepted"
        if change.create is not None:
            return self._sent(change.create)
        about = change.object
        key = about.kind, about.namespace, about.name
        [old] = [each for each in documents if _key(each) == key]
        if self._sent(old, keep=True) != "accepted":
            return "unjudged"
        resource = self._client.resource(old["apiVersion"], old["kind"])
        try:
            if change.recreate:
                self._remove(old)
                [new] = applied([old], [change])
                # what is created again has no status
                return self._sent({**new, "status": None})
            for status in (False, True):
                operations = [each for each in change.patch or () if each["path"].startswith("/status") is status]
                if operations:
                    sub = "status" if status else ""
                    # a patch is a list
                    self._client.patch(resource, about.namespace, about.name, operations, sub, JSON_PATCH)  # type: ignore[arg-type]
        except ApiError as error:
            return error.message
        finally:
            self._remove(old)
        return "accepted"

    def _sent(self, document: Mapping[str, Any], *, keep: bool = False) -> str:
        meta = {key: value for key, value in document["metadata"].items() if key not in _OF_THE_SERVER}
        self._open(meta.get("namespace", ""))
        resource = self._client.resource(document["apiVersion"], document["kind"])
        spec = document.get("spec")
        if resource.kind == "Pod":
            # the corpus has priorities without their classes
            spec = {field: value for field, value in document["spec"].items() if field not in _OF_PRIORITY}
        try:
            made = self._client.create(resource, {**document, "metadata": meta, "spec": spec}, "Ignore")
            if document.get("status") and "status" in resource.subresources:
                self._client.update(resource, {**made, "status": document["status"]}, "status")
        except ApiError as error:
            return error.message
        if not keep:
            self._remove(document)
        return "accepted"

    def _remove(self, document: Mapping[str, Any]) -> None:
        resource = self._client.resource(document["apiVersion"], document["kind"])
        store = self._client.server.registry.store
        meta = document["metadata"]
        found = store.get(resource.prefix, meta.get("namespace", ""), meta["name"])
        if found is not None:
            store.remove(resource.prefix, found, found.document())

    def _open(self, namespace: str) -> None:
        if namespace and namespace not in self._namespaces:
            self._namespaces.add(namespace)
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            self._client.create(self._client.resource("v1", "Namespace"), body)


def _key(document: Mapping[str, Any]) -> tuple[str, str, str]:
    meta = document["metadata"]
    return str(document["kind"]), str(meta.get("namespace", "")), str(meta["name"])


def goes_to_its_node(documents: list[Document], loaded: Loaded, name: str, remedy: Remedy) -> bool:
    """Return whether a pod goes to the node that a remedy names, in the cluster after it."""
    after = applied(documents, remedy.changes)
    if remedy.preempts:
        return preempting_place(after, loaded, name)[0] == remedy.node
    return remedy.node in best_nodes(after, loaded, name)


def verdicts(every: Mapping[str, int]) -> Counter[str]:
    """Check the remedies of every so many lines of files; return how many changes were accepted or not judged."""
    cluster, counted = Cluster(), Counter[str]()
    for file, step in every.items():
        for documents, loaded, names in scenarios(file, step):
            model = model_of(documents, loaded)
            for name in names:
                for remedy in find_remedies(model, model.pods[name]):
                    for change in remedy.changes:
                        verdict = cluster.verdict(change, documents)
                        counted[verdict] += 1
                        assert verdict in ("accepted", "unjudged"), (file, name, remedy.summary, change.object, verdict)
                    assert goes_to_its_node(documents, loaded, name, remedy), (file, name, remedy)
    return counted


def test_no_remedy_is_refused() -> None:
    counted = verdicts(FILES)
    assert counted["accepted"] > 2 * counted["unjudged"], counted


@pytest.mark.slow
def test_no_remedy_of_many_is_refused() -> None:
    counted = verdicts({file: step // MORE for file, step in FILES.items()})
    assert counted["accepted"] > 2 * counted["unjudged"], counted
