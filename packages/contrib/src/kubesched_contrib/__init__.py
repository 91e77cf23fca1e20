"""Plugins for kubesched, written from the documented behaviour of scheduler-plugins v0.34.

Each plugin has a separate module or package; configurations find them by the entry points of the distribution.
"""
