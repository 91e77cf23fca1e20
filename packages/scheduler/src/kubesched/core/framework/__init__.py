"""The contract between plugins and the scheduler, and its implementation.

From plugin classes and a resolved configuration to compiled profiles and questions. No scheduling decision, no I/O, and
no knowledge of a particular plugin. Plugin authors start with `plugin`; `questions` keeps answers up to date for the
evaluator.
"""
