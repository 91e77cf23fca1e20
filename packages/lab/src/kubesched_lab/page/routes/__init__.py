"""The page's interface: from requests that the guard lets through to answers as JSON.

Each module has one part of the interface; `docs/reference/page-api.md` describes it.
"""
