"""Admission: what is asked of a request before an object is stored, besides the rules of its kind.

In: the object as it would be stored, as it was before, and who asks for what. Out: nothing, a changed object, warnings,
or a refusal. Policies (`expressions`, `validating_policies`) and limits (`namespace_limits`) are asked here.
"""
