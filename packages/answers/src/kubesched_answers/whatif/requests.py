"""Operations in the form of options: `drain`: `zone=a`, `scale`: `deploy/web=9`.

From the name of an operation and a text to the operation; a text that matches nothing in the cluster is an error with
suggestions. Other modules read files: their contents come as values.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError, nearest
from kubesched_answers.sources.operation_files import FileReaders
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.node_choice import chosen_nodes
from kubesched_answers.whatif.operations import AddNodes, Cordon, Operation, RemoveNodes, TaintNodes, parse_taint
from kubesched_answers.whatif.workload_operations import ApplyManifests, DeleteObject, RescheduleAll, ScaleWorkload
from kubesched_answers.whatif.workloads import REPLICAS_FIELDS, NamedObject, parse_name

# limit on new nodes or pods
MOST_NEW: Final = 100_000


def operation_of(model: ClusterModel, name: str, value: Any, readers: FileReaders) -> Operation:
    """Return an operation; raises UnknownObjectError and other KubeschedErrors."""
    maker = _MAKERS.get(name)
    if maker is None:
        raise UnknownObjectError(f"there is no operation {name}{nearest(name, _MAKERS)}")
    return maker(model, value, readers)


def check_form(name: str, value: Any) -> None:
    """Check the form of an operation without a cluster; raises KubeschedError."""
    if name == "taint":
        parse_taint(value[1])
    elif name == "add_nodes":
        _number_and_node(value)
    elif name == "scale":
        _workload_and_number(value)


def with_drain_options(operations: Iterable[Operation], force: bool, delete_emptydir_data: bool) -> list[Operation]:
    """Return operations whose drains have the options of `kubectl drain`."""
    return [
        replace(each, force=force, delete_emptydir_data=delete_emptydir_data) if isinstance(each, Drain) else each
        for each in operations
    ]


def _taint(model: ClusterModel, value: tuple[str, str], readers: FileReaders) -> Operation:
    return TaintNodes(chosen_nodes(model, value[0]), *parse_taint(value[1]))


def _add_nodes(model: ClusterModel, text: str, readers: FileReaders) -> Operation:
    number, like = _number_and_node(text)
    known = like in model.cluster.table.row_of
    node = None if known else readers.node(like)
    return AddNodes(number, node if node is not None else model.node(like))


def _number_and_node(text: str) -> tuple[int, str]:
    number, _, like = text.partition("=")
    if not number.isdecimal() or not like or int(number) < 1:
        raise KubeschedError(f"--add-nodes {text}: write N=LIKE, such as 3=node-1 or 3=node.yaml")
    _check_bound("add_nodes", int(number))
    return int(number), like


def _scale(model: ClusterModel, text: str, readers: FileReaders) -> Operation:
    return ScaleWorkload(*_workload_and_number(text))


def _workload_and_number(text: str) -> tuple[NamedObject, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.isdecimal():
        raise KubeschedError(f"--scale {text}: write KIND/NAME=N, such as deploy/web=9")
    _check_bound("scale", int(number))
    workload = parse_name(name)
    if workload.kind not in REPLICAS_FIELDS:
        raise KubeschedError(f"--scale {text}: a {workload.kind} has no replicas; {', '.join(REPLICAS_FIELDS)} have")
    return workload, int(number)


def _check_bound(name: str, number: int) -> None:
    if number > MOST_NEW:
        raise KubeschedError(f"--{name.replace('_', '-')}: {number} is too many; the limit is {MOST_NEW}")


def _apply(model: ClusterModel, path: str, readers: FileReaders) -> Operation:
    manifests = tuple(readers.manifests(path))
    if not manifests:
        raise UnknownObjectError(f"{path} has no objects")
    return ApplyManifests(manifests, path)


def _reschedule(model: ClusterModel, which: str, readers: FileReaders) -> Operation:
    if which != "all":
        raise UnknownObjectError(f"reschedule {which}: expected all")
    return RescheduleAll()


_MAKERS: Final[dict[str, Callable[[ClusterModel, Any, FileReaders], Operation]]] = {
    "drain": lambda model, text, readers: Drain(chosen_nodes(model, text)),
    "cordon": lambda model, text, readers: Cordon(chosen_nodes(model, text)),
    "remove": lambda model, text, readers: RemoveNodes(chosen_nodes(model, text)),
    "taint": _taint,
    "add_nodes": _add_nodes,
    "scale": _scale,
    "apply": _apply,
    "delete": lambda model, text, readers: DeleteObject(parse_name(text)),
    "reschedule": _reschedule,
}
OPERATIONS: Final = tuple(_MAKERS)
