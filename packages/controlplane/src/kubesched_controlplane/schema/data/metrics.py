"""What nodes and pods use."""

# upstream: metrics/pkg/apis/metrics/v1beta1/types.go (v1.36)

METRICS = """
ResourceList = map[string]Quantity

NodeMetrics kind: timestamp=2! Time, window=3!, usage=4! ResourceList
PodMetrics kind: timestamp=2! Time, window=3!, containers=4! []ContainerMetrics atomic
ContainerMetrics: name=1!, usage=2! ResourceList
"""
