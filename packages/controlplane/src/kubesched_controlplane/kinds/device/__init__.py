"""The kinds of dynamic resource allocation: resource slices, device classes, resource claims."""
