"""The controllers of object lifecycles: garbage collector, namespaces, taint eviction, disruption budgets."""
