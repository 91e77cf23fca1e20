"""In: a folder, and every change before a client sees it. Out: the same control plane when it starts again.
Never: a change that was answered or shown and is then lost with the process.
"""
