"""Workloads that want as many pods as an int32 can say: they take their turns like others, and can be taken back."""

import asyncio
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster
from tests.support.workloads import a_template, a_workload, with_nodes

from kubesched_controlplane.controllers.workloads.owning import BURST

MOST = 2**31 - 1
TURNS = 12


def a_job(**spec: Any) -> dict[str, Any]:
    """Return a job of as many pods at once."""
    template = a_template()
    template["spec"]["restartPolicy"] = "Never"
    wanted = {"template": template, "parallelism": MOST, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web"}, "spec": wanted}


ENDLESS = {
    "a stateful set in order": a_workload("StatefulSet", replicas=MOST, serviceName="web"),
    "a stateful set at once": a_workload(
        "StatefulSet", replicas=MOST, serviceName="web", podManagementPolicy="Parallel"
    ),
    "a stateful set that begins at the end": a_workload(
        "StatefulSet", replicas=MOST, serviceName="web", ordinals={"start": MOST}
    ),
    "a replica set": a_workload("ReplicaSet", replicas=MOST),
    "a deployment": a_workload("Deployment", replicas=MOST),
    "a job": a_job(),
    "a job with completions": a_job(completions=MOST),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_pods_are_made_a_few_in_a_turn(case: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        workload = ENDLESS[case]
        cluster.create(workload)
        made = 0
        for _ in range(TURNS):
            await asyncio.sleep(0)
            before, made = made, len(cluster.names("Pod"))
            assert made - before <= 2 * BURST, case
        cluster.delete(workload["kind"], "web", propagationPolicy="Background")
        await asyncio.sleep(60)
        assert cluster.names("Pod") == [], case

    with_nodes(story)
