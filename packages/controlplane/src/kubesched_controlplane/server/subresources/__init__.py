"""The paths with special handlers, such as binding, eviction, scale, reviews and metrics."""
