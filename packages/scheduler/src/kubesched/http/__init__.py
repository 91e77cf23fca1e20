"""In: a listening socket, and a request handler. Out: HTTP on connections, bounded in number, time and memory.
Never: an anonymous client that blocks other clients or fills the memory, by sending data or by sending none.
"""
