"""Manifests that users start from: texts that they edit before they create the objects."""

from typing import Final

POD: Final = """\
apiVersion: v1
kind: Pod
metadata:
  name: one
spec:
  containers:
  - name: main
    image: registry.k8s.io/pause:3.10
    resources:
      requests: {cpu: 500m, memory: 256Mi}
"""
DEPLOYMENT: Final = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      # one zone has at most one pod more than another
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels: {app: web}
      containers:
      - name: main
        image: registry.k8s.io/pause:3.10
        resources:
          requests: {cpu: 500m, memory: 256Mi}
"""
GPU_JOB: Final = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  parallelism: 2
  completions: 2
  template:
    metadata:
      labels: {app: train}
    spec:
      restartPolicy: Never
      tolerations:
      - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
      containers:
      - name: main
        image: registry.k8s.io/pause:3.10
        resources:
          requests: {cpu: "4", memory: 16Gi}
          limits: {nvidia.com/gpu: "1"}
"""
URGENT: Final = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: urgent
value: 100000
---
apiVersion: v1
kind: Pod
metadata:
  name: urgent
spec:
  priorityClassName: urgent
  containers:
  - name: main
    image: registry.k8s.io/pause:3.10
    resources:
      requests: {cpu: "2", memory: 1Gi}
"""
BUDGET: Final = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  minAvailable: 2
  selector:
    matchLabels: {app: web}
"""
TEMPLATES: Final = {
    "Pod": POD,
    "Deployment, spread over zones": DEPLOYMENT,
    "Job with GPUs": GPU_JOB,
    "Urgent pod, which may preempt": URGENT,
    "PodDisruptionBudget": BUDGET,
}
