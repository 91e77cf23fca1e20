"""A real cluster: the one that KUBECONFIG leads to; its tests are skipped without one.

The scheduler under test runs with KUBESCHED_KUBECONFIG, or with the same kubeconfig. It has a name and a lease of its
own, and nodes that only its pods tolerate, so it may run beside others; everything is taken away at the end.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.support.api_client import ApiClient, Document, document_of
from tests.support.clusters import Schedulers
from tests.support.processes import SchedulerProcess, eventually

from kubesched.api.pods import Toleration
from kubesched.testing import a_namespace, a_node, a_pod

TAINT = "kubesched-test"


class RealCluster(Schedulers):
    """A namespace and nodes of one's own on a cluster."""

    def __init__(self, folder: Path, admin: Path, scheduler: Path) -> None:
        super().__init__(folder, scheduler)
        self.api = ApiClient(admin)
        self.prefix = f"kubesched-{uuid4().hex[:8]}"
        self.scheduler_name = self.namespace = self.prefix
        self._clean = ExitStack()
        self.create(a_namespace(self.namespace))

    def flags(self) -> tuple[str, ...]:
        """Return what lets a scheduler stand for a lease of its own."""
        return (f"--leader-elect-resource-name={self.prefix}",)

    def scheduler(  # type: ignore[override]
        self, *arguments: str, config: Document | None = None
    ) -> AbstractContextManager[SchedulerProcess]:
        """Start a scheduler, without devices if the server has none (docs/verification/compatibility.md)."""
        if self.api.ask("GET", "/apis/resource.k8s.io/v1")[0] == 404:
            profiles = (config or {}).get("profiles", [{}])
            for profile in profiles:
                profile.setdefault("plugins", {})["multiPoint"] = {"disabled": [{"name": "DynamicResources"}]}
            config = {**(config or {}), "profiles": profiles}
            arguments = (*arguments, "--feature-gates=DRAExtendedResource=false")
        return super().scheduler(*arguments, config=config)

    def create(self, obj: Any) -> Document:
        """Create something that is deleted in the end."""
        made = self.api.create(obj)
        meta = made["metadata"]
        self._clean.callback(self.api.delete, made["kind"], meta["name"], meta.get("namespace", ""), at_once=True)
        return made

    def node(self, name: str, cpu: str, **more: Any) -> str:
        """Create a node that is ready, and that others keep away from; return its name."""
        labels, taints = {TAINT: self.prefix}, [f"{TAINT}:NoSchedule"]
        node = a_node(f"{self.prefix}-{name}", cpu=cpu, labels=labels, taints=taints, **more)
        document = document_of(node)
        document["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "Test"}]
        self.create(document)
        # an admission plugin may have added that it is not ready
        self.api.change("Node", node.name, {"spec": {"taints": document["spec"]["taints"]}})
        return str(node.name)

    def pod(self, name: str, cpu: str = "1m", **more: Any) -> Document:
        """Create a pod that runs on the nodes of the test only."""
        more.setdefault("namespace", self.namespace)
        pod = a_pod(
            name,
            cpu=cpu,
            scheduler=self.scheduler_name,
            node_selector={TAINT: self.prefix},
            tolerations=[Toleration(key=TAINT, operator="Exists")],
            **more,
        )
        document = document_of(pod)
        document["spec"]["terminationGracePeriodSeconds"] = 0
        # right after its namespace a service account has to appear first
        return eventually(lambda: self._made(document), f"pod {name} can be created")

    def _made(self, document: Document) -> Document | None:
        try:
            return self.create(document)
        except AssertionError as error:
            if "serviceaccount" in str(error):
                return None
            raise

    def close(self) -> None:
        """Take everything away."""
        self._clean.callback(self.api.delete, "Lease", self.prefix, "kube-system")
        self._clean.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RealCluster]:
    """Give a place on the cluster that KUBECONFIG leads to."""
    admin = os.environ.get("KUBECONFIG", "")
    if not admin:
        pytest.skip("KUBECONFIG does not lead to a cluster")
    scheduler = os.environ.get("KUBESCHED_KUBECONFIG") or admin
    found = RealCluster(tmp_path, Path(admin), Path(scheduler).absolute())
    try:
        yield found
    finally:
        found.close()
