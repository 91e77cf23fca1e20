"""Benchmarks: workloads in the form of scheduler_perf, run on the engine, on an embedded cluster or on any cluster."""
