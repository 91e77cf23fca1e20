"""The controller of resource claims."""
