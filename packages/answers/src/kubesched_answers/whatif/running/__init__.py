"""A running cluster in virtual time: the embedded control plane, its controllers, simulated kubelets, a scheduler."""
