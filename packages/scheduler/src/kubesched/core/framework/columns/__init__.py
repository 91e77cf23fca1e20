"""Questions, the cached columns of plugins, and worlds, their what-ifs."""
