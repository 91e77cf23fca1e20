"""Small parts that every room may use: named files, PEM blocks, repeated log lines, loop errors, garbage collection,
virtual time, names that are imported late.
Never: knowledge of Kubernetes.
"""
