"""KubeSchedulerConfiguration: types, plugin arguments, defaults, validation, feature gates, loading.

In: the text of a configuration file and of `--feature-gates`. Out: `Loaded`, frozen structs that the other rooms read.
Never here: files, sockets, the clock, or plugin code; which plugins exist comes in as a catalog.
"""
