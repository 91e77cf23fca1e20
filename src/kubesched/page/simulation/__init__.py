"""A simulation in the page's process: the real scheduler in virtual time, in a thread of its own.

    commands (play, pause, step, seek, act) ──▶ SimulationThread: SteppedRun (scheduler, SimulatedApi, observers)
                                                       │ reports: immutable values, at most ten a second
                                                       ▼
    the page's loop: PageSimulation ──▶ ShownCluster, clock, marks

A simulation is a pure function of a scenario: trace, configuration, seed and actions. Its thread keeps the history of
what was shown, so that any moment of it is looked at without a run; to go on from there is running again.
"""
