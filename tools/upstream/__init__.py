"""Hold kubesched's tables against those that Kubernetes publishes in its own repository (`make upstream SRC=...`).

    checkout or git revision ──sources──▶ facts of upstream ──┐
                                                              ├──report──▶ differences
    the tables of kubesched ──────────────▶ the same facts ───┘

Only facts are read: names, numbers, types, defaults; never a sentence. One module a table: `openapi`, `go_types` and
`protobuf` (types and fields), `resources`, `gates`, `metrics`, `roles`, `flags`. `marks` lists the files of upstream
that our comments name and that changed between two releases. `docs/internals/next-release.md` is the recipe.
"""
