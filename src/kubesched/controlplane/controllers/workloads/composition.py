"""All controllers of workloads, in the order in which they receive events.

From a context to controllers; the indexes come before the controllers that read them.
"""

from kubesched.controlplane.controllers.framework.controller import Controller, ControllerContext
from kubesched.controlplane.controllers.workloads.autoscalers import HorizontalController
from kubesched.controlplane.controllers.workloads.cron_jobs import CronJobController
from kubesched.controlplane.controllers.workloads.daemon_sets import DaemonSetController
from kubesched.controlplane.controllers.workloads.deployments import DeploymentController
from kubesched.controlplane.controllers.workloads.jobs import JobController
from kubesched.controlplane.controllers.workloads.pods import PodsByOwner
from kubesched.controlplane.controllers.workloads.quotas import ResourceQuotaController
from kubesched.controlplane.controllers.workloads.replica_sets import ReplicaSetController, ReplicationManager
from kubesched.controlplane.controllers.workloads.revisions import Revisions
from kubesched.controlplane.controllers.workloads.stateful_sets import StatefulSetController


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
