"""The commands of the control plane."""
