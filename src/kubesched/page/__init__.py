"""The page: a cluster in the browser, and the interface that it reads.

    files, a live cluster ──▶ ShownCluster (model, numbered changes) ──▶ JSON, server-sent events ──▶ browser

A process of its own, so that whoever looks slows no scheduler down.
"""
