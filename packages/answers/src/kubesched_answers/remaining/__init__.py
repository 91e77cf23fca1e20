"""The free capacity of a cluster: the resources that no pod requests."""
