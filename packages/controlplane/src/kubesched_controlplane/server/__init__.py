"""The API server: a request in, a response or a watch out.

`server` is the way of a request, `verbs` are the verbs of every resource, `subresources` the paths with a handler of
their own.
"""
