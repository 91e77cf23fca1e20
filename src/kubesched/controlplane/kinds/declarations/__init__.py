"""One declaration a kind: its resources, its strategy, its sentence in the docs, its place in the order of loading."""
