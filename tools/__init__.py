"""Tools for developers; no part of the package that is installed."""
