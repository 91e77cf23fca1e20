"""Kubernetes objects, and the arithmetic on their fields: quantities, selectors, tolerations, resources.

From JSON, or parsed YAML, to frozen structs. No I/O, no clock, no object that changes after it was decoded.
"""
