"""DynamicResources: devices through resource claims.

From pods with claims (or with extended resources that are backed by devices) to nodes that have the devices, an
allocation on the chosen node, and updated claims. Nothing is written before PreBind.

    PreEnqueue  pod_claims      do the claims exist?
    PreFilter   preparing       claims, classes, problems on all nodes             ─▶ state
    Filter      filtering       per node: reachable? devices left? (solving)       ─▶ rows that passed
    PostFilter  releasing       an unused claim is deallocated
    Score       state           alternatives that come first score higher
    Reserve     plugin          the devices are held (cluster/devices)
    PreBind     binding         claims are written, binding conditions awaited
"""

from kubesched.core.plugins.dynamic_resources.plugin import DynamicResources

__all__ = ["DynamicResources"]
