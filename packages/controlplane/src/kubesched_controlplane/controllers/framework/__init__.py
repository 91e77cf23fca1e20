"""The framework of all controllers: base class, workqueue, event recorder, retries, and the index of pods by node."""
