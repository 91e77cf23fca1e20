"""In: workloads (replica sets, deployments, stateful sets, daemon sets, jobs, cron jobs), autoscalers and quotas.
Out: pods that are created, adopted, replaced and deleted, and the status of workloads; by requests like any client's.
Never: a scheduling decision, a wait for the wall clock, or a pass over all pods for the sake of one.
"""
