"""The engine's benchmark: `python -m benchmarks --help`."""
