"""Remedies: smallest sets of changes that make a pod schedulable, each tried in a fork."""
