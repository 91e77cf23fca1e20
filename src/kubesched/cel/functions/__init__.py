"""What the functions and operators of the language do, by subject; `library` knows them all.

Comes in: values. Goes out: a value, or an error with the reference's words. Never: anything about types that only the
checker knows.
"""
