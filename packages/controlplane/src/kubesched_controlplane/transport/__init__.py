"""Between clients and the server: sockets, faults, the client in the same process, certificates, kubeconfigs.

`http` serves on a socket, through a `Transport` with its faults; `local_client` calls the server directly.
"""
