"""The contract between plugins and the scheduler, and what makes it work.

From plugin classes and a resolved configuration to compiled profiles and questions. No scheduling decision, no I/O, and
no knowledge of a particular plugin. `plugin` is what authors read first; `questions` is how the evaluator keeps answers
true.
"""
