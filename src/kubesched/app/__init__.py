"""In: options. Out: a running scheduler, and the exit code of its process.
The composition root: everything is built and connected here, and nowhere else.
Never: a decision about a pod.
"""
