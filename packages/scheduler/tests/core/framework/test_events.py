"""Cluster events: which registrations cover which events, and the names of actions."""

import pytest

from kubesched.core.framework.values.events import Action, ClusterEvent, Resource, registrations_for_extenders


@pytest.mark.parametrize(
    ("registered", "event", "covered"),
    [
        # the same resource and one of the actions
        ((Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL), (Resource.NODE, Action.ADD), True),
        ((Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL), (Resource.NODE, Action.DELETE), False),
        ((Resource.NODE, Action.ADD), (Resource.STORAGE_CLASS, Action.ADD), False),
        # Pod stands for assigned and waiting pods
        ((Resource.POD, Action.DELETE), (Resource.ASSIGNED_POD, Action.DELETE), True),
        ((Resource.POD, Action.DELETE), (Resource.UNSCHEDULED_POD, Action.DELETE), True),
        ((Resource.ASSIGNED_POD, Action.DELETE), (Resource.UNSCHEDULED_POD, Action.DELETE), False),
        ((Resource.ASSIGNED_POD, Action.DELETE), (Resource.POD, Action.DELETE), False),
        # Update covers every specific update, but no specific update covers a plain one
        ((Resource.POD, Action.UPDATE), (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL), True),
        ((Resource.POD, Action.UPDATE), (Resource.UNSCHEDULED_POD, Action.UPDATE), True),
        ((Resource.POD, Action.UPDATE_POD_TOLERATION), (Resource.UNSCHEDULED_POD, Action.UPDATE), False),
        # the wildcard covers every resource
        ((Resource.WILDCARD, Action.ALL), (Resource.CSI_NODE, Action.UPDATE), True),
        ((Resource.WILDCARD, Action.ADD), (Resource.CSI_NODE, Action.UPDATE), False),
        ((Resource.NODE, Action.ALL), (Resource.WILDCARD, Action.ALL), False),
        # a resource that is no member of the enumeration, or written as a plain text
        (("example.com/Widget", Action.ADD), ("example.com/Widget", Action.ADD), True),
        (("Pod", Action.ADD), ("AssignedPod", Action.ADD), True),
        (("*", Action.ADD), ("example.com/Widget", Action.ADD), True),
    ],
)
def test_which_registration_covers_which_event(
    registered: tuple[str, Action], event: tuple[str, Action], covered: bool
) -> None:
    assert ClusterEvent(*registered).matches(ClusterEvent(*event)) is covered


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Action.ADD, "Add"),
        (Action.UPDATE_NODE_DECLARED_FEATURE, "UpdateNodeDeclaredFeature"),
        (Action.UPDATE, "Update"),
        (Action.ALL, "All"),
        (Action.ADD | Action.DELETE, ""),
        (Action(0), ""),
    ],
)
def test_actions_have_the_names_of_the_reference(action: Action, text: str) -> None:
    assert action.text == text


def test_extenders_hear_of_pod_groups_only_where_there_are_any() -> None:
    without = [registration.event.resource for registration in registrations_for_extenders(pod_groups=False)]
    assert Resource.POD_GROUP not in without
    everything = registrations_for_extenders(pod_groups=True)
    assert [registration.event.resource for registration in everything] == [*without, Resource.POD_GROUP]
    assert all(registration.hint is None for registration in everything)
