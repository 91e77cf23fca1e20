"""How objects and the API itself are shown to clients: encoders, media types, tables, discovery, OpenAPI."""
