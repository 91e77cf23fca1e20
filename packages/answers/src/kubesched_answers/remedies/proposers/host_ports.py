"""NodePorts: host ports that are taken, changed to free ones or removed.

From the ports in use on a node to steps on the pod's containers.
"""

from collections.abc import Iterator, Sequence

from kubesched.api.pods import Container, ContainerPort
from kubesched.core.cluster.pod_info import HostPort
from kubesched.core.cluster.ports import ANY_IP, conflicts
from kubesched_answers.remedies.proposers.obstacles import Obstacle, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Step, Steps
from kubesched_answers.remedies.trials import Trial

MOST_PORTS = 65_535
TOPIC = "host-port"


def host_ports(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield other ports for the taken ones, then none; a pod on the host's network cannot have another port."""
    if obstacle.row is None:
        return
    taken = list(_taken(trial, obstacle.row))
    if trial.pod.spec.host_network:
        yield (_off_the_network(trial, [port.host_port for _, port in taken]),)
        return
    yield tuple(_free(trial, obstacle.row, taken))
    yield tuple(_closed(trial, container, port) for container, port in taken)


def _taken(trial: Trial, row: int) -> Iterator[tuple[Container, ContainerPort]]:
    """Yield the containers with their host ports that are in use on a row."""
    users = trial.model.cluster.table.ports.users
    for container in (*trial.pod.spec.init_containers, *trial.pod.spec.containers):
        for port in container.ports:
            wanted = _host_port(port, port.host_port)
            if port.host_port > 0 and conflicts(wanted.ip, users(wanted).get(row, ())):
                yield container, port


def _host_port(port: ContainerPort, number: int) -> HostPort:
    return HostPort(port.host_ip or ANY_IP, port.protocol or "TCP", number)


def _free(trial: Trial, row: int, taken: Sequence[tuple[Container, ContainerPort]]) -> Iterator[Step]:
    """Yield another port for each taken one: the next free port on the row."""
    users = trial.model.cluster.table.ports.users
    own = {port.port for port in trial.pod.digest.host_ports}
    for container, port in taken:
        numbers = (*range(port.host_port + 1, MOST_PORTS + 1), *range(port.host_port - 1, 1023, -1))
        free = next((n for n in numbers if n not in own and not users(_host_port(port, n)).get(row)), None)
        if free is not None:
            own.add(free)
            yield _moved(trial, container, port, free)


def _moved(trial: Trial, container: Container, port: ContainerPort, free: int) -> Step:
    summary = f"change host port {port.host_port} of container {container.name} to {free}"

    def renumber(entry: Document) -> None:
        entry["hostPort"] = free

    return pod_step(trial, TOPIC, summary, _edited(container.name, port, renumber))


def _closed(trial: Trial, container: Container, port: ContainerPort) -> Step:
    summary = f"remove host port {port.host_port} of container {container.name}"

    def close(entry: Document) -> None:
        del entry["hostPort"]
        entry.pop("hostIP", None)

    return pod_step(trial, TOPIC, summary, _edited(container.name, port, close), 1.0)


def _edited(container_name: str, port: ContainerPort, change: Edit) -> Edit:
    """Return the edit of a container's first entry with a host port."""

    def edit(document: Document) -> None:
        for container in _containers(document):
            if container.get("name", "") == container_name:
                for each in container.get("ports", ()):
                    same = each.get("hostPort") == port.host_port and each.get("protocol", "") == port.protocol
                    if same and each.get("hostIP", "") == port.host_ip:
                        change(each)
                        return

    return edit


def _off_the_network(trial: Trial, numbers: Sequence[int]) -> Step:
    """Return the step that removes the pod from the host's network, where its ports are host ports."""

    def edit(document: Document) -> None:
        document.get("spec", {}).pop("hostNetwork", None)
        for container in _containers(document):
            for each in container.get("ports", ()):
                if each.get("hostPort") in numbers:
                    del each["hostPort"]

    listed = ", ".join(map(str, sorted(set(numbers))))
    text = f"take the pod off the host's network, with its host port {listed}"
    return pod_step(trial, TOPIC, text, edit, 2.0)


def _containers(document: Document) -> list[Document]:
    spec = document.get("spec", {})
    return [*spec.get("initContainers", ()), *spec.get("containers", ())]
