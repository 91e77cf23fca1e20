"""The strategy of jobs, in parts: what a spec may say, what a status may say; `kinds.jobs` puts them together."""
