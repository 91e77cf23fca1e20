"""In: a request's client certificate, bearer token and headers. Out: the user, and whether the user may read the
page. Never: a page for a user without the API server's authorization.
"""
