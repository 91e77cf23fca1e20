"""The lab: simulations, sweeps, recordings, benchmarks and the page."""
