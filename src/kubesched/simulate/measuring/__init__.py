"""From what happens in a simulation to figures, and from the figures of several runs to means and differences."""
