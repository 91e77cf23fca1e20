"""In: messages with keys and values. Out: lines in klog's text or JSON format, written by a thread.
Never: a wait of the scheduling loop for a slow disk or pipe, or a secret in a line.
"""
