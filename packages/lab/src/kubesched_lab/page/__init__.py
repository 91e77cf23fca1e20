"""The page shows a cluster in the browser. This package has its server and its HTTP interface.

    files, a live cluster ──▶ ShownCluster (model, numbered changes) ──▶ JSON, server-sent events ──▶ browser

The page is a separate process, so that users who look at it do not slow the scheduler down.
"""
