"""From the events of a simulation to figures, and from the figures of several runs to means and differences."""
