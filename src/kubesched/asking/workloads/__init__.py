"""Workloads: which of their pods have a node, and why the others have none."""
