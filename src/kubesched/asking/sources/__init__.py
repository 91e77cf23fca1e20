"""Where a cluster comes from: a live cluster, a cluster of `kubesched up`, a snapshot, manifests."""
