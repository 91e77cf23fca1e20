"""The options of a life: how large the cluster is, and how often each thing happens."""

import msgspec


class LifeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a cluster and the rates of its changes; rates are per second, durations in seconds."""

    nodes: int = 100
    # pods of Deployments that run from the beginning
    running: int = 2000
    # pods that fit on no node
    stuck: int = 20
    templates: int = 200
    flaps: float = 2.0
    restarts: float = 0.5
    resizes: float = 0.2
    # how long a pod of a scaled Deployment, and a pod of a Job, runs on average
    life: float = 60.0
    job_life: float = 8.0
    # the shares of new pods that belong to rollouts and to Jobs; the others belong to Deployments that are scaled
    rolling: float = 0.5
    jobs: float = 0.3
    # pods of a burst of Jobs
    burst: int = 20
    node_report_every: float = 300.0
    # the share of node reports with another list of images
    new_images: float = 0.1
    images: int = 20
    # Lease renewals per second at most; each node renews its Lease every 10 seconds
    leases: float = 50.0
    # how often a node arrives (0: never), and how long it stays
    new_node_every: float = 30.0
    node_life: float = 60.0
    seed: int = 1
