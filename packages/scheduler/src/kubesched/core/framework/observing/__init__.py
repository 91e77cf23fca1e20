"""Observers of the scheduler's events, and the details of decisions that they get."""
