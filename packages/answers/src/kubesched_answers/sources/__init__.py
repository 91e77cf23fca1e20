"""The sources of a cluster: a live cluster, a cluster of `kubesched up`, a snapshot, manifests."""
