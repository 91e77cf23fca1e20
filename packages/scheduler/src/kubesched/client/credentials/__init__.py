"""In: a kubeconfig, flags, the environment. Out: an API server's address with TLS, proxy and authentication headers.
Never: a secret in an error or a log line.
"""
