"""The implementations of functions and operators, by subject; `library` lists them all.

Comes in: values. Goes out: a value, or an error with the reference's words. Never: static types, which only the
checker knows.
"""
