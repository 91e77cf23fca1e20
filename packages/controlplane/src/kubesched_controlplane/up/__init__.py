"""In: manifests and the options of `kubesched up`. Out: a cluster on this machine, and the placement of each pod.
The composition root of `kubesched up`: the embedded control plane and a scheduler in one process. Never: a
decision about a pod.
"""
