"""Service accounts: one in every namespace, what pods get of them, and their tokens."""
