"""A cluster for tests: in the process of a test, or beside it."""
