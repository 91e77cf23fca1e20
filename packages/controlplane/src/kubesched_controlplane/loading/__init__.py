"""Loading of manifests: from files to objects in a server."""
