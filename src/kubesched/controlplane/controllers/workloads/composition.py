"""All controllers of workloads, in the order in which they are to be told of changes.

From what controllers work with to controllers; the indexes that others ask come first.
"""

from kubesched.controlplane.controllers.framework.controller import Controller, Tools
from kubesched.controlplane.controllers.workloads.autoscalers import Autoscalers
from kubesched.controlplane.controllers.workloads.cron_jobs import CronJobs
from kubesched.controlplane.controllers.workloads.daemon_sets import DaemonSets
from kubesched.controlplane.controllers.workloads.deployments import Deployments
from kubesched.controlplane.controllers.workloads.jobs import Jobs
from kubesched.controlplane.controllers.workloads.pods import Pods
from kubesched.controlplane.controllers.workloads.quotas import Quotas
from kubesched.controlplane.controllers.workloads.replica_sets import ReplicaSets, ReplicationControllers
from kubesched.controlplane.controllers.workloads.revisions import Revisions
from kubesched.controlplane.controllers.workloads.stateful_sets import StatefulSets


def workload_controllers(tools: Tools) -> list[Controller]:
    """Return the controllers of workloads."""
    pods, revisions = Pods(tools), Revisions(tools)
    owners: list[Controller] = [
        Deployments(tools, pods),
        ReplicaSets(tools, pods),
        ReplicationControllers(tools, pods),
        StatefulSets(tools, pods, revisions),
        DaemonSets(tools, pods, revisions),
        Jobs(tools, pods),
        CronJobs(tools),
    ]
    return [revisions, pods, *owners, Autoscalers(tools), Quotas(tools)]
