"""In: pods as clients send them. Out: defaulted and admitted pods, or problems with the reference's messages.
Never: a read of other objects, except in admission.
"""
