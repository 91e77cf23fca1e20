"""What pods of the properties are made of; those on nodes and those to be judged are of the same templates."""

from typing import Any

from kubesched.testing import a_spread, an_affinity

TEMPLATES: list[dict[str, Any]] = [
    {"cpu": "500m", "memory": "1Gi"},
    {"cpu": "1", "memory": "1Gi", "labels": {"app": "web"}, "owner": "ReplicaSet/web", "image": "web:1"},
    {"cpu": "250m", "labels": {"app": "db"}, "affinity": an_affinity(apart="app=db@hostname")},
    {"cpu": "100m", "labels": {"app": "cache"}, "affinity": an_affinity(near="app=web@zone")},
    {"labels": {"app": "web"}, "spread": a_spread("zone", "app=web"), "cpu": "500m"},
    {"labels": {"app": "web"}, "spread": a_spread("hostname", "app=web", soft=True), "memory": "500Mi"},
    {"cpu": "500m", "ports": [8080], "tolerations": ["dedicated=batch:NoSchedule"]},
    {"cpu": "1", "requests": {"example.com/gpu": "1"}, "priority": 100},
    {"cpu": "2", "priority": 50, "node_selector": {"disk": "ssd"}},
    {"labels": {"app": "db"}, "affinity": an_affinity(prefer_apart=(10, "app=web@zone"), prefer_nodes=(5, "disk=ssd"))},
    {"cpu": "1500m", "memory": "1Gi", "priority": 1000},
    {"labels": {"app": "web"}, "affinity": an_affinity(near="app=web@hostname"), "priority": 10},
]
