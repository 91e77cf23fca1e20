"""The kinds of workloads: apps, batch, autoscaling, metrics, runtime classes."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.conversion import AutoscalerConversion
from kubesched_controlplane.kinds.job.strategy import CronJobStrategy, JobStrategy
from kubesched_controlplane.kinds.runtime_classes import RuntimeClassStrategy
from kubesched_controlplane.kinds.workload.autoscalers import HorizontalPodAutoscalerStrategy
from kubesched_controlplane.kinds.workload.replicas import ReplicaSetStrategy, StatefulSetStrategy
from kubesched_controlplane.kinds.workload.rollouts import (
    ControllerRevisionStrategy,
    DaemonSetStrategy,
    DeploymentStrategy,
)
from kubesched_controlplane.registry.declaration import READ_ONLY, SCALABLE, STATUS, Declaration, LoadOrder
from kubesched_controlplane.representation.tables.cluster import RUNTIME_CLASS_PRINTER
from kubesched_controlplane.representation.tables.controllers import (
    CONTROLLER_REVISION_PRINTER,
    CRON_JOB_PRINTER,
    DAEMON_SET_PRINTER,
    DEPLOYMENT_PRINTER,
    HORIZONTAL_POD_AUTOSCALER_PRINTER,
    JOB_PRINTER,
    REPLICA_SET_PRINTER,
    STATEFUL_SET_PRINTER,
)

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "apps",
            "v1",
            "deployments",
            "Deployment",
            short_names=("deploy",),
            categories=("all",),
            subresources=SCALABLE,
            printer=DEPLOYMENT_PRINTER,
        ),
        "rolls out ReplicaSets: surge, pause, history, undo, progress deadline",
        DeploymentStrategy(),
        load_order=LoadOrder.OWNERS,
    ),
    Declaration(
        Resource(
            "apps",
            "v1",
            "replicasets",
            "ReplicaSet",
            short_names=("rs",),
            categories=("all",),
            subresources=SCALABLE,
            printer=REPLICA_SET_PRINTER,
        ),
        "keeps up its number of pods, adopts and releases them",
        ReplicaSetStrategy(),
        load_order=LoadOrder.POD_OWNERS,
    ),
    Declaration(
        Resource(
            "apps",
            "v1",
            "statefulsets",
            "StatefulSet",
            short_names=("sts",),
            categories=("all",),
            subresources=SCALABLE,
            printer=STATEFUL_SET_PRINTER,
        ),
        "creates pods in order with their claims; partitions, retention of claims",
        StatefulSetStrategy(),
        load_order=LoadOrder.POD_OWNERS,
    ),
    Declaration(
        Resource(
            "apps",
            "v1",
            "daemonsets",
            "DaemonSet",
            short_names=("ds",),
            categories=("all",),
            subresources=STATUS,
            printer=DAEMON_SET_PRINTER,
        ),
        "has a pod on every node that it may run on; rolling update with surge",
        DaemonSetStrategy(),
        load_order=LoadOrder.POD_OWNERS,
    ),
    Declaration(
        Resource("apps", "v1", "controllerrevisions", "ControllerRevision", printer=CONTROLLER_REVISION_PRINTER),
        "made by StatefulSets and DaemonSets, and cleaned up",
        ControllerRevisionStrategy(),
        load_order=LoadOrder.OWNERS,
    ),
    Declaration(
        Resource("batch", "v1", "jobs", "Job", categories=("all",), subresources=STATUS, printer=JOB_PRINTER),
        "runs pods to completion: indexes, back-off, failure and success policies, suspension, TTL",
        JobStrategy(),
        load_order=LoadOrder.POD_OWNERS,
    ),
    Declaration(
        Resource(
            "batch",
            "v1",
            "cronjobs",
            "CronJob",
            short_names=("cj",),
            categories=("all",),
            subresources=STATUS,
            printer=CRON_JOB_PRINTER,
        ),
        "creates Jobs by its schedule: time zones, concurrency, history",
        CronJobStrategy(),
        load_order=LoadOrder.OWNERS,
    ),
    Declaration(
        Resource(
            "autoscaling",
            "v2",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            short_names=("hpa",),
            categories=("all",),
            subresources=STATUS,
            printer=HORIZONTAL_POD_AUTOSCALER_PRINTER,
        ),
        "scales its target by the usage in the annotations of pods",
        HorizontalPodAutoscalerStrategy(),
    ),
    Declaration(
        Resource(
            "autoscaling",
            "v1",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            short_names=("hpa",),
            categories=("all",),
            subresources=STATUS,
            same_prefix_as="horizontalpodautoscalers.autoscaling",
            conversion=AutoscalerConversion(),
            printer=HORIZONTAL_POD_AUTOSCALER_PRINTER,
        ),
        "the same objects as those of autoscaling/v2",
    ),
    Declaration(
        Resource("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", namespaced=False, verbs=READ_ONLY),
        "the sum over the pods of a node",
    ),
    Declaration(
        Resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", verbs=READ_ONLY),
        "the requests of a running pod, or its annotations `kubesched.io/cpu-usage` and `kubesched.io/memory-usage`",
    ),
    Declaration(
        Resource(
            "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False, printer=RUNTIME_CLASS_PRINTER
        ),
        "gives pods overhead, tolerations and node selectors",
        RuntimeClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
)
