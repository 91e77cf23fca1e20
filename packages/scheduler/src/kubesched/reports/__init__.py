"""Answers as people and programs read them.

In: a report, made of blocks. Out: text for a terminal, Markdown, HTML; plain JSON of an answer.
Never: what a report is about; the rooms above make reports.
"""
