"""The paths with a handler of their own: binding, eviction, scale, reviews, metrics and others."""
