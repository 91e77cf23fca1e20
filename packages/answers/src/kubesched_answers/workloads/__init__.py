"""Workloads: which of their pods have a node, and why the rest have none."""
