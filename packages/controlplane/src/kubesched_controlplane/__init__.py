"""In: requests as an API server gets them, over HTTP or in process. Out: responses, and watch events.
Objects are kept as the JSON bytes that are sent, so a change is encoded once for all its watches.
Never: a scheduling decision; schedulers are clients like any other.
"""
