"""The names of OpenAPI extensions that schemas of custom resources use."""

PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
