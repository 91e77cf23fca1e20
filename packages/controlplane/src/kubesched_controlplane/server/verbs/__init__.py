"""The verbs that every resource has: get, list, watch, create, update, patch, apply, delete."""
