"""What controllers do for policies, and for addresses of services."""

import asyncio

from tests.support.good_objects import good
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.controllers.framework.options import Options


def test_policies_say_which_generation_was_looked_at() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        policy = cluster.create(good("ValidatingAdmissionPolicy"))
        await asyncio.sleep(1)
        found = cluster.get("ValidatingAdmissionPolicy", "a", "")
        assert found is not None
        assert found["status"] == {"observedGeneration": 1, "typeChecking": {}}
        found["spec"]["failurePolicy"] = "Ignore"
        cluster.update(found)
        await asyncio.sleep(1)
        found = cluster.get("ValidatingAdmissionPolicy", "a", "")
        assert found is not None
        assert found["status"]["observedGeneration"] == 2
        assert policy["metadata"]["generation"] == 1

    in_simulated_cluster(story, Options(workloads=False))


def test_addresses_of_services_are_objects_while_the_service_is_there() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        service = cluster.create(good("Service"))
        address = service["spec"]["clusterIP"]
        await asyncio.sleep(1)
        found = cluster.get("IPAddress", address, "")
        assert found is not None
        assert found["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "a"}
        assert found["metadata"]["labels"]["ipaddress.kubernetes.io/ip-family"] == "IPv4"
        cluster.delete("IPAddress", address, "")
        await asyncio.sleep(1)
        assert cluster.get("IPAddress", address, "") is not None, "it is written down again"
        cluster.delete("Service", "a")
        await asyncio.sleep(1)
        assert cluster.get("IPAddress", address, "") is None

    in_simulated_cluster(story, Options(workloads=False))
