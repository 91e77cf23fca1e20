"""In: a listening socket, and what answers requests. Out: HTTP on connections, bounded in number, time and memory.
Never: an anonymous client that keeps others out, or fills the memory, by what it sends or does not send.
"""
