"""What the cluster knows of devices: classes, resource claims, and what of the inventory is allocated.

| module | what it keeps |
|---|---|
| `device_classes` | which class an extended resource belongs to |
| `resource_claims` | resource claims as reported, as just written, and allocations in flight |
| `device_tracker` | the inventory, the state of allocation, and codes of nodes with the same devices |
"""
