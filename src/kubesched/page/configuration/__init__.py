"""A configuration as text and as a form, which follow each other; faults with their places.

From a text and a change of the form to the text after it, the form, faults, and placements compared.
"""
