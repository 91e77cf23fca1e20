"""Plugins for kubesched, from the documented behaviour of scheduler-plugins v0.34.

Each plugin has a module, or a package, of its own; configurations find them by the entry points of the distribution.
"""
