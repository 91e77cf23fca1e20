"""Values that hooks and the scheduler exchange: statuses, events, effects, permissions; nothing here calls a plugin."""
