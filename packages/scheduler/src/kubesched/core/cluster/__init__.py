"""The cluster as columns: a table of nodes with their pods, other objects by kind, and a log of what changed.

From nodes, pods and other objects, one at a time, to columns and the change log. No I/O, no clock, no randomness, and
no loop over all pods on the path of a scheduling cycle. `storage/` and `devices/` hold volumes and devices, `following`
keeps everything that is derived from the table up to date.

A pod's life in the cluster:

    unknown ──reported without a node──▶ waiting ──assume──▶ assumed ──reported with its node──▶ confirmed
       │                                  │   ▲                │ │                                   │
       │                                  │   └────forget──────┘ │ deleted                           │ deleted, finished
       │                                  │ deleted              ▼                                   ▼
       │                                  └───────────────────▶ gone ◀───────────────────────────────┘
       └──reported with a node (bound by another scheduler, or before this one started)──▶ confirmed

* waiting: it is in the queue, and in no row. It may be nominated to a node: it then has a slot, and is added to a world
  when a pod of lower priority is judged on that node.
* assumed: the scheduler has chosen a node. The pod is in the row of its node and counts there as a bound pod does, but
  is not bound yet. `forget` undoes it when Reserve, Permit or binding fails.
* confirmed: a watch has reported the pod on its node. If nothing differs from what was assumed, nothing is logged.
* gone: deleted, or finished (Succeeded, Failed); it counts nowhere.
"""
