"""Small parts that every room may use: user-named files, PEM blocks, repeated log lines, loop errors, garbage
collection, virtual time, lazy imports. Never: knowledge of Kubernetes.
"""
