"""In: a Lease's name and the election's durations. Out: whether this process is the leader.
Never: two leaders, as long as clocks run at about the same rate.
"""
