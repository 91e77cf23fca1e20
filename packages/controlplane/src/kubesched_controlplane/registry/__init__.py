"""The rules that all kinds share: the strategy base class, object metadata, selectors, and the resource registry."""
