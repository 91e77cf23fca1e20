"""Small parts that every room may use: named files, PEM blocks, repeated log lines, garbage collection, process exit.
Never: a word about Kubernetes.
"""
