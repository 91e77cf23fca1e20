"""Who owns which fields of an object: field sets, owners, and applying what somebody wants of his fields.

    shapes ──ways──▶ field sets of a change ──owners──▶ metadata.managedFields
                              └──applying: merge, prune, conflicts

From documents before and after a write to who owns what, kept beside the document and never in it.
"""
