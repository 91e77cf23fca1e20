"""Descriptions of types and fields, a line each: `Type: text` or `Type.field: text`; further lines are indented."""
