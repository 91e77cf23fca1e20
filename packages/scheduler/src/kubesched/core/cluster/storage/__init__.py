"""The storage of the cluster: volumes, claims, the pods that use them, and the nodes that can access them.

| module | what it keeps |
|---|---|
| `volumes` | persistent volumes and their claims, as reported and as assumed |
| `free_volumes` | volumes without a claim, by class and size |
| `volume_claims` | the claims of a pod's volumes |
| `volume_users` | the rows that use a claim or disk |
| `attached_volumes`, `csi_volumes` | volumes of each CSI driver on each row, and their limits |
| `csi_translation` | in-tree volumes as the CSI volumes that they migrate to |
| `reach` | rows that match a volume's node affinity or a pool's topology |
| `storage_pools` | capacity that CSI drivers report by topology |
"""
