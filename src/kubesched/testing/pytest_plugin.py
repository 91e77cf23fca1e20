"""Fixtures for tests of plugins; pytest loads this module in every run of an environment with kubesched.

Everything else is imported when a fixture is first used.
"""
