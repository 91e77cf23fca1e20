"""Operations on a running cluster: each becomes requests to its API server, as kubectl sends them.

From an operation to a function that returns its result at the end. A drain continues while time passes; other
operations end at once, and controllers act on them later.
"""

from kubesched.errors import KubeschedError
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.operations import AddNodes, Cordon, Operation, RemoveNodes, TaintNodes
from kubesched_answers.whatif.running import drains, node_requests, object_requests
from kubesched_answers.whatif.running.cluster import RunningCluster
from kubesched_answers.whatif.running.drains import Ended
from kubesched_answers.whatif.whatif_answer import WhatIfStep
from kubesched_answers.whatif.workload_operations import ApplyManifests, DeleteObject, RescheduleAll, ScaleWorkload
from kubesched_controlplane.api.statuses import ApiError


def begin(cluster: RunningCluster, operation: Operation) -> Ended:
    """Send the requests of an operation; raises KubeschedError if the API server refuses one."""
    try:
        return _begin(cluster, operation)
    except ApiError as error:
        raise KubeschedError(f"the API server refuses it: {error.message}") from None


def _begin(cluster: RunningCluster, operation: Operation) -> Ended:
    match operation:
        case Drain():
            return drains.begin(cluster, operation)
        case Cordon(nodes):
            return _done(node_requests.cordon_nodes(cluster, nodes))
        case TaintNodes():
            return _done(node_requests.taint(cluster, operation))
        case RemoveNodes(nodes):
            return _done(node_requests.remove(cluster, nodes))
        case AddNodes():
            return _done(node_requests.add(cluster, operation))
        case ScaleWorkload():
            return _done(object_requests.scale(cluster, operation))
        case ApplyManifests():
            return _done(object_requests.apply(cluster, operation))
        case DeleteObject():
            return _done(object_requests.delete(cluster, operation))
        case RescheduleAll():
            return _done(object_requests.reschedule_all(cluster))
    raise AssertionError(f"{operation} is an operation")


def _done(step: WhatIfStep) -> Ended:
    return lambda: step
