"""Custom resources: kinds that CustomResourceDefinitions define.

    CustomResourceDefinition ──definitions, *_checks──▶ accepted ──serving──▶ catalog: one `Resource` for each version
    body of an object ──decoder, structure──▶ document ──strategy: validating, list_types, rules──▶ store

Comes in: definitions, and objects of their kinds. Goes out: resources with all that is particular to them
(`kinds.CustomKind`), so that every verb serves them like built-in ones. Never: a kind whose schema was not accepted.
"""
