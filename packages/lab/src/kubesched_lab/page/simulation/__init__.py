"""A simulation in the page's process: the real scheduler in virtual time, in a separate thread.

    commands (play, pause, step, seek, act) ──▶ SimulationThread: PageRun (SimulationRun, mirror, observers)
                                                       │ reports: immutable values, at most ten a second
                                                       ▼
    the page's loop: PageSimulation ──▶ ShownCluster, clock, marks

A simulation is a pure function of a scenario: trace, configuration, seed and actions. Its thread keeps a history of
changes, so that the page shows any past moment without a run. To continue from a past moment, the thread runs the
scenario again up to it.
"""
