"""Reports in forms for people and programs.

In: a report, made of blocks. Out: text for a terminal, Markdown, HTML; plain JSON of an answer.
Never: the subject of a report; the rooms above create reports.
"""
