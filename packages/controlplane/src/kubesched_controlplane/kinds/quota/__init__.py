"""Quotas and limit ranges: their strategies, the usage of objects, and admission."""
