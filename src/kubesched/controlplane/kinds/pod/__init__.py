"""In: pods as clients send them. Out: pods with everything filled in, or what is wrong with them, to the letter of the
reference. Never: a read of other objects, save where `admission` resolves a name in a pod.
"""
