"""Simulated nodes, which become ready and run pods without kubelets.

In: events of nodes and pods. Out: the writes of kubelets, by requests like any client's, on the event loop's clock.
Never: a scheduling decision, or work for nodes and pods that do not change.
"""
