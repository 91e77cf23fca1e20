"""What all controllers share: the base class, the workqueue, the event recorder, retries, the index of pods by node."""
