"""The workload kinds: replicas, rollouts, pod groups, autoscalers, disruption budgets."""
