"""In: Kubernetes objects as JSON, or as parsed YAML.

Out: frozen structs, and the arithmetic on what they say (quantities, selectors, tolerations, resources).
Never: I/O, a clock, or an object that changes after it was decoded.
"""
