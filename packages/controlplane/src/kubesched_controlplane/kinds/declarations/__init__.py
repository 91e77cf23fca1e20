"""The declarations of kinds: resource, sentence for the documentation, strategy and load order of each."""
