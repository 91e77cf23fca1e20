"""The cluster on display: a model that follows its source, as columns and as numbered changes.

From objects of a source (`live_feed` follows one) to JSON for browsers.
"""
