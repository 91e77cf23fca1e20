"""DynamicResources: devices through resource claims.

From pods with claims (or with extended resources that devices stand for) to nodes that have the devices, an allocation
on the node that is chosen, and claims that say so. Nothing is written before PreBind.

    PreEnqueue  pod_claims      are the claims there?
    PreFilter   preparing       claims, classes, what is in the way for all nodes  ─▶ state
    Filter      filtering       per node: reachable? devices left? (solving)       ─▶ rows that passed
    PostFilter  releasing       an idle claim in the way is given back
    Score       state           alternatives that come first are better
    Reserve     plugin          the devices are held (cluster/devices)
    PreBind     binding         claims are written, devices waited for
"""

from kubesched.core.plugins.dynamic_resources.plugin import DynamicResources

__all__ = ["DynamicResources"]
