"""What is left of a cluster: the resources that no pod requests."""
