"""Managed fields: which field manager owns which fields of an object, and server-side apply.

    shapes ──types──▶ field sets of a change ──entries──▶ metadata.managedFields
                              └──applying: merge, prune, conflicts

From documents before and after a write to managedFields, stored beside the document and never in it.
"""
