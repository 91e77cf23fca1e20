"""The controllers of persistent volumes and their claims: binding, provisioning, protection."""
