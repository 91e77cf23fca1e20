"""How many more pods fit, what runs out first, and which nodes to add."""
