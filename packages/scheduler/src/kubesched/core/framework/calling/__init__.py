"""Calls of hooks: checked answers, failures under the plugin's name, and one form of a hook through another."""
