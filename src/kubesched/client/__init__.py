"""In: questions, effects and configured credentials as values. Out: requests over the network, and what answers mean.
Never: a scheduling decision, an interpretation of what extenders answer, or a secret in a text for people.
Kubeconfig and credentials, REST, list and watch, effects, events, extenders, leader election.
"""
