"""In: observations. Out: metric families with kube-scheduler's names, labels and buckets, as Prometheus text.
Never: a lock or an allocation that the scheduling loop would notice.
"""
