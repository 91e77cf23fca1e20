"""Kinds that are defined while the server runs.

    CustomResourceDefinition ──definitions, *_checks──▶ accepted ──serving──▶ catalog: one `Resource` for each version
    body of an object ──reading, structure──▶ document ──strategy: validating, list_types, rules──▶ store

Comes in: definitions, and objects of their kinds. Goes out: resources that carry all that is particular to them
(`kinds.CustomKind`), so that every verb serves them as it serves its own. Never: a kind whose schema was not accepted.
"""
