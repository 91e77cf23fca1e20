"""The rules that all kinds share: the strategy base class, object metadata, selectors, and what verbs work with."""
