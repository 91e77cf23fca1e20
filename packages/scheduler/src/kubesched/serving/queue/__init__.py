"""In: a scheduler's queue. Out: /debug/queue: pods by place, the first of each place, and the events that moved
pods. Never: work for pods outside a request.
"""
