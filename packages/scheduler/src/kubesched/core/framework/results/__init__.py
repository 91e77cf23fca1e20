"""Results of extension points that are more than a status, and the message of a pod without a feasible node."""
