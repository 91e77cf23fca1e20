"""Services that constructors of plugins get by parameter name: background work, HTTP, writes, metrics, trials."""
