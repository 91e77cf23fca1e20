"""The network kinds: services, endpoints, ingresses, network policies, and the addresses that services get."""
