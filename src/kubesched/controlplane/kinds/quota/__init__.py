"""Quotas in parts: what objects use, which quotas that concerns, how it is charged; `kinds.quotas` has the rules."""
