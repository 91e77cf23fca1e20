"""Workloads in the form of Kubernetes' scheduler_perf: from its YAML and templates to objects, and to traces.

performance-config.yaml ──▶ perf_cases ──▶ operations, parameters filled in ──▶ objects ──▶ perf_trace, bench
"""
