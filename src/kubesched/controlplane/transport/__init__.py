"""Between clients and the server: sockets, faults, the client in the same process, certificates, kubeconfigs.

`http` serves on a socket, `local_client` calls the server directly; both go through the same `Transport`.
"""
