"""In: questions of the conformance corpus, one JSON object each, of a known kind.

Out: the answers of this scheduler, in the corpus' form, ready to be compared.
Never: the expected answer; what reads and compares the files lives elsewhere.
"""
