"""The HTTP client of plugins on a cluster, for tests with their own server."""

from typing import cast

from kubesched.client.plugin_http import PluginHttp
from kubesched.client.rest import Rest
from kubesched.core.framework.services.http_client import HttpClient


def real_http() -> HttpClient:
    """Return a client that sends requests over the network; it has no API server."""
    return PluginHttp(cast(Rest, None))
