"""All controllers of workloads, in the order in which they receive events.

From a context to controllers; the indexes come before the controllers that read them.
"""

from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext
from kubesched_controlplane.controllers.workloads.autoscalers import HorizontalController
from kubesched_controlplane.controllers.workloads.cron_jobs import CronJobController
from kubesched_controlplane.controllers.workloads.daemon_sets import DaemonSetController
from kubesched_controlplane.controllers.workloads.deployments import DeploymentController
from kubesched_controlplane.controllers.workloads.jobs import JobController
from kubesched_controlplane.controllers.workloads.pods import PodsByOwner
from kubesched_controlplane.controllers.workloads.quotas import ResourceQuotaController
from kubesched_controlplane.controllers.workloads.replica_sets import ReplicaSetController, ReplicationManager
from kubesched_controlplane.controllers.workloads.revisions import Revisions
from kubesched_controlplane.controllers.workloads.stateful_sets import StatefulSetController


def workload_controllers(context: ControllerContext) -> list[Controller]:
    """Return the controllers of workloads."""
    pods, revisions = PodsByOwner(context), Revisions(context)
    owners: list[Controller] = [
        DeploymentController(context, pods),
        ReplicaSetController(context, pods),
        ReplicationManager(context, pods),
        StatefulSetController(context, pods, revisions),
        DaemonSetController(context, pods, revisions),
        JobController(context, pods),
        CronJobController(context),
    ]
    return [revisions, pods, *owners, HorizontalController(context), ResourceQuotaController(context)]
