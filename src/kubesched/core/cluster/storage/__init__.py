"""What the cluster knows of storage: volumes, claims, who mounts them, and which nodes reach them.

| module | what it keeps |
|---|---|
| `volumes` | persistent volumes and their claims, as reported and as just assumed |
| `free_volumes` | volumes without a claim, by class and size |
| `volume_claims` | which claim a pod's volume stands for |
| `volume_users` | which rows mount which claims and disks |
| `attached_volumes`, `csi_volumes` | volumes of each CSI driver on each row, and how many may be there |
| `csi_translation` | in-tree volumes as the CSI volumes that they migrate to |
| `reach` | rows that a volume's node affinity or a class' topology admits |
| `storage_pools` | capacity that CSI drivers report by topology |
"""
