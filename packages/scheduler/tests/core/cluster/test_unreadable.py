"""Objects that cannot be read: who needs one is told why, and nobody else."""

from kubesched.core.cluster.unreadable import MOST, UnreadableObjects

MISSING = 'persistentvolumeclaim "data" not found'


def test_a_message_about_an_object_that_cannot_be_read_says_why() -> None:
    unreadable = UnreadableObjects()
    unreadable.mark("PersistentVolumeClaim", "default/data", "it cannot be read: spec is a number")
    unreadable.mark("StorageClass", "fast", "it cannot be read: it is a list")
    assert unreadable.explained(MISSING, "default") == f"{MISSING}; it cannot be read: spec is a number"
    assert unreadable.explained(MISSING, "other") == MISSING
    assert unreadable.explained('storageclass "fast" not found', "any").endswith("; it cannot be read: it is a list")
    assert unreadable.explained("0/1 nodes are available: 1 Insufficient cpu.", "default").endswith("cpu.")
    unreadable.mark("PersistentVolumeClaim", "default/data", "")
    assert unreadable.explained(MISSING, "default") == MISSING


def test_a_bounded_number_is_remembered() -> None:
    unreadable = UnreadableObjects()
    for number in range(2 * MOST):
        unreadable.mark("StorageClass", f"{number}", "why")
    assert unreadable.explained(f'"{MOST}"', "") == f'"{MOST}"'
