"""In: questions and effects as values. Out: requests over the network, and their answers as values.
Never: a scheduling decision, or an interpretation of what extenders answer.
So far: extenders over HTTP and HTTPS.
"""
