"""Representations of objects and of the API itself: encoders, media types, tables, discovery, OpenAPI."""
