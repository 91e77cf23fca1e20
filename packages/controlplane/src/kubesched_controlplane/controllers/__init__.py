"""The controllers of kube-controller-manager, as clients in the same process.

In: changes from the store. Out: requests like any client's.
Never: the work of kubelets, which `nodes` simulates.
"""
