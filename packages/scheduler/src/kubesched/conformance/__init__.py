"""Answers to questions of the conformance corpus, one JSON object each, of a known kind.

From a question to the answer of this scheduler, in the corpus' form, ready to be compared. This package never reads the
expected answer; another module reads and compares the files.
"""
