"""In: the flags of kube-scheduler. Out: a running scheduler, and the exit code of its process.
The composition root of `kubesched run`: flags, options, log, clients, scheduler, watchdog, pages.
Never: a decision about a pod, or anything of the embedded control plane.
"""
