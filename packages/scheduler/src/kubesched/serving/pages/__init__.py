"""In: an authorized request. Out: the page under its path, in a media type that the client accepts.
Never: I/O; pages read callables that are handed in.
"""
