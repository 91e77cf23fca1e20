"""In: a listening socket, and a request handler. Out: HTTP on connections, bounded in number, time and memory.
Never: an anonymous client that keeps others out, or fills the memory, by what it sends or does not send.
"""
