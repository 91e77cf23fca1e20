"""From manifests of workloads to the pods that their controllers would create."""
