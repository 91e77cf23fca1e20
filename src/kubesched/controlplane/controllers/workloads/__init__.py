"""In: objects that stand for many pods: replica sets, deployments, stateful sets, daemon sets, jobs, cron jobs; quotas.
Out: their pods, made, adopted, replaced and deleted, and what they say of them; by requests like any client's.
Never: a scheduling decision, a wait for the wall clock, or a pass over all pods for the sake of one.
"""
