"""The chart and the bases on a real API server: accepted with strict field validation, and by Pod Security."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.rendering import BASES, IMAGE, chart, collection_of, kustomize, only, path_of_helm

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("base", ["second-scheduler", "high-availability", "replacement"])
def test_bases_are_accepted(cluster: Any, base: str) -> None:
    for document in kustomize(BASES / base):
        cluster.api.ok("POST", collection_of(document), document, fieldValidation="Strict", dryRun="All")


@pytest.mark.skipif(not path_of_helm(), reason="no helm")
def test_pods_of_the_chart_are_let_into_a_restricted_namespace(cluster: Any, tmp_path: Path) -> None:
    restricted = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    cluster.api.change("Namespace", cluster.namespace, restricted, namespace="")
    found = chart(*IMAGE, "--set", "networkPolicy.enabled=true", home=tmp_path, namespace=cluster.namespace)
    for document in found:
        cluster.api.ok("POST", collection_of(document), document, fieldValidation="Strict", dryRun="All")
    account = only(found, "ServiceAccount")
    cluster.api.ok("POST", collection_of(account), account)
    template = only(found, "Deployment")["spec"]["template"]
    meta = {**template["metadata"], "name": "replica", "namespace": cluster.namespace}
    pod = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": meta}
    cluster.api.ok("POST", collection_of(pod), pod, fieldValidation="Strict", dryRun="All")
    del pod["spec"]["securityContext"]
    code, refused = cluster.api.ask("POST", collection_of(pod), pod, dryRun="All")
    assert (code, "PodSecurity" in refused["message"]) == (403, True), "the check is in force"
    cluster.api.ok("DELETE", f"{collection_of(account)}/{account['metadata']['name']}")
