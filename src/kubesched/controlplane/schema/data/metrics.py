"""What nodes and pods use."""

# upstream: metrics/pkg/apis/metrics/v1beta1/types.go (v1.36)

METRICS = """
ResourceList = map[string]Quantity

NodeMetrics kind: timestamp! Time, window!, usage! ResourceList
PodMetrics kind: timestamp! Time, window!, containers! []ContainerMetrics atomic
ContainerMetrics: name!, usage! ResourceList
"""
