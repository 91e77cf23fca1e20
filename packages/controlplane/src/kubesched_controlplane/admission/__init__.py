"""Admission: checks and changes of an object before it is stored, besides the strategy of its kind.

In: the new object, the old one, and the request with its user. Out: nothing, a changed object, warnings, or a denial.
Here are policies (`validating_policies`, `mutating_policies`), `webhooks`, and the limits of namespaces.
"""
