"""Simulation: pods arrive, run and leave in virtual time, under the real scheduler, without an API server.

files, generators ──▶ trace ──▶ simulation (scheduler + simulated API, virtual time) ──▶ figures ──▶ reports
"""
