"""The service `kubernetes`: there as soon as a server serves, and kept as it is."""

import asyncio

from tests.support.api import Asking
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.controllers.endpoints.kubernetes_service import NAME, NAMESPACE, KubernetesServiceController
from kubesched_controlplane.controllers.framework.controller import ControllerContext
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.running import new_server, running

SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/{NAME}"
ENDPOINTS = f"/api/v1/namespaces/{NAMESPACE}/endpoints/{NAME}"
SLICE = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices/{NAME}"


def test_a_server_that_serves_has_its_service() -> None:
    async def story() -> None:
        server = new_server({}, seed=1)
        asking = Asking(server)
        assert asking.ask("GET", SERVICE)[0] == 404
        async with running(server) as http:
            service = asking.ok("GET", SERVICE)
            assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
            assert service["spec"]["clusterIP"] == "10.96.0.1"
            port = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": http.port}
            assert service["spec"]["ports"] == [port]
            (subset,) = asking.ok("GET", ENDPOINTS)["subsets"]
            assert subset["ports"] == [{"name": "https", "port": http.port, "protocol": "TCP"}]
            found = asking.ok("GET", SLICE)
            assert found["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}
            assert found["endpoints"][0]["addresses"] == [subset["addresses"][0]["ip"]]

    asyncio.run(story())


def test_it_is_kept_as_it_is() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        context = ControllerContext(cluster.client, asyncio.get_running_loop(), Options(), cluster.notes.append)
        own = KubernetesServiceController(context, "192.0.2.7", 6443)
        own.start()
        cluster.delete("Service", NAME)
        cluster.delete("Endpoints", NAME)
        cluster.change("EndpointSlice", NAME, lambda each: each.update(endpoints=[]))
        await asyncio.sleep(1)
        asking = Asking(cluster.server)
        assert asking.ok("GET", SERVICE)["spec"]["clusterIP"] == "10.96.0.1"
        assert asking.ok("GET", ENDPOINTS)["subsets"][0]["addresses"] == [{"ip": "192.0.2.7"}]
        assert asking.ok("GET", SLICE)["endpoints"][0]["addresses"] == ["192.0.2.7"]
        slices = cluster.all("EndpointSlice", **{"kubernetes.io/service-name": NAME})
        assert len(slices) == 1, "it is not mirrored"
        own.stop()

    in_simulated_cluster(story)
