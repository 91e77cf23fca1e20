"""NodePorts: host ports that are taken, changed to free ones.

From the ports in use on a node to steps on the pod's containers.
"""

from collections.abc import Iterator

from kubesched.api.pods import Container, ContainerPort
from kubesched.asking.remedies.proposers.obstacles import Obstacle, pod_step
from kubesched.asking.remedies.steps import Document, Edit, Step, Steps
from kubesched.asking.remedies.trials import Trial
from kubesched.core.cluster.pod_info import HostPort
from kubesched.core.cluster.ports import ANY_IP, conflicts

MOST_PORTS = 65_535


def host_ports(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield other ports for those that are taken; a pod on the host's network cannot have another one."""
    if obstacle.row is None or trial.pod.spec.host_network:
        return
    spec, row = trial.pod.spec, obstacle.row
    users = trial.model.cluster.table.ports.users
    own = {port.port for port in trial.pod.digest.host_ports}
    steps: list[Step] = []
    for container in (*spec.init_containers, *spec.containers):
        for port in container.ports:
            wanted = HostPort(port.host_ip or ANY_IP, port.protocol or "TCP", port.host_port)
            if port.host_port > 0 and conflicts(wanted.ip, users(wanted).get(row, ())):
                numbers = (*range(port.host_port + 1, MOST_PORTS + 1), *range(port.host_port - 1, 1023, -1))
                free = next(
                    (
                        n
                        for n in numbers
                        if n not in own and not users(HostPort(wanted.ip, wanted.protocol, n)).get(row)
                    ),
                    None,
                )
                if free is None:
                    return
                own.add(free)
                steps.append(_moved(trial, container, port, free))
    yield tuple(steps)


def _moved(trial: Trial, container: Container, port: ContainerPort, free: int) -> Step:
    summary = f"change host port {port.host_port} of container {container.name} to {free}"
    return pod_step(trial, "host-port", summary, _renumbered(container.name, port, free))


def _renumbered(container_name: str, port: ContainerPort, free: int) -> Edit:
    def edit(document: Document) -> None:
        spec = document.get("spec", {})
        for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
            if container.get("name", "") == container_name:
                for each in container.get("ports", ()):
                    same = each.get("hostPort") == port.host_port and each.get("protocol", "") == port.protocol
                    if same and each.get("hostIP", "") == port.host_ip:
                        each["hostPort"] = free
                        return

    return edit
