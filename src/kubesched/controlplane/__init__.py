"""In: requests as an API server gets them, over HTTP or in process. Out: answers, and watches of what changed.
Objects are kept as the JSON bytes that are sent, so a change is encoded once however many watch it.
Never: a scheduling decision; schedulers are clients like any other.
"""
