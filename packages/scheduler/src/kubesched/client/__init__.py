"""In: requests, effects and configured credentials as values. Out: requests over the network, and their responses.
Never: a scheduling decision, an interpretation of extenders' responses, or a secret in a text for people.
`credentials/`: from a kubeconfig to authenticated connections; `informers/`: list and watch; `election/`: the Lease.
"""
