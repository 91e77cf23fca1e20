"""Simulated nodes: nodes that become ready and run pods without a kubelet.

In: changes of nodes and pods. Out: what kubelets would write, by requests like any client's, on the loop's clock.
Never: a scheduling decision, or work for nodes and pods to which nothing happens.
"""
