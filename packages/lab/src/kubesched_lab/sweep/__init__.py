"""Sweeps: many simulations, over configurations, seeds, traces and sizes of clusters, on one machine or many."""
