"""In: a folder, and every change before a client sees it. Out: the same control plane when it starts again.
Never: a change that a client has seen and that is lost when the process ends.
"""
