"""The controllers that end objects or count them: garbage collector, namespaces, taint eviction, disruption budgets."""
