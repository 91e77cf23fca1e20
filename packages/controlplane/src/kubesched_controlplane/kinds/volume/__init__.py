"""The storage kinds: persistent volumes, their claims, storage classes and CSI objects."""
