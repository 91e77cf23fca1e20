"""Manifests into a server: from files to objects."""
