"""The API server: a request in, an answer or a watch out.

`server` is the way of a request, `verbs` holds what every resource can be asked, `subresources` the paths with a
handler of their own.
"""
