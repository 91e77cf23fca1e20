"""kubesched: the Kubernetes scheduler, whole, in Python."""

__version__ = "0.1.0"
