"""The devices of the cluster: classes, resource claims, the inventory and its allocations.

| module | what it keeps |
|---|---|
| `device_classes` | the device class of an extended resource |
| `resource_claims` | resource claims as reported, as just written, and allocations in flight |
| `device_tracker` | the inventory, the state of allocation, and codes of nodes with the same devices |
"""
