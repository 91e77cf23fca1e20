"""What is shown: a model that follows its source, as columns and as numbered changes.

From objects of a source (`live_feed` follows one) to what browsers read.
"""
