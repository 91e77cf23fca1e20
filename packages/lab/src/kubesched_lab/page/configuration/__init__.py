"""A configuration as text and as a form that stay in step, with the positions of its faults.

From a text and a change of the form to the text after it, the form, its faults, and compared placements.
"""
