"""What users do to a cluster: cordon, drain, add, remove, scale, create, delete; undo and redo.

ActionRequest ──▶ trace_events ──▶ SimulatedChanges ──▶ an action of the simulation's scenario
└──▶ live_requests ──▶ LiveChanges ──▶ requests to the API server
"""
