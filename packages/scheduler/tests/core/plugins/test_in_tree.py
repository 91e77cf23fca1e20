"""The in-tree registry and the configuration's table of plugins say the same."""

from kubesched.config.intree import IN_TREE
from kubesched.core.plugins.in_tree import in_tree_registry


def test_every_plugin_implements_the_extension_points_that_configurations_are_checked_against() -> None:
    assert in_tree_registry().catalog() == dict(IN_TREE)
