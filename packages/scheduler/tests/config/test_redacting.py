"""Redacted configurations: what is hidden, and what stays."""

from typing import Any

import pytest

from kubesched.config.redacting import args_without_secrets, without_secrets


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        pytest.param({"token": "abc"}, {"token": "[hidden]"}, id="a token"),
        pytest.param({"a": [{"authToken": "abc"}]}, {"a": [{"authToken": "[hidden]"}]}, id="deep inside"),
        pytest.param({"a": {"X-Api-Key": "abc"}}, {"a": {"X-Api-Key": "[hidden]"}}, id="a key"),
        pytest.param({"headers": {"X-Mine": "abc"}}, {"headers": "[hidden]"}, id="headers of requests"),
        pytest.param({"headers": {}}, {"headers": {}}, id="no headers"),
        pytest.param({"token": ""}, {"token": ""}, id="none is set"),
        pytest.param({"tokens": 5, "keyword": "x"}, {"tokens": 5, "keyword": "x"}, id="other names"),
        pytest.param({"url": "https://a:b@c/d"}, {"url": "https://[hidden]@c/d"}, id="a password in an address"),
        pytest.param({"text": "a//b@c"}, {"text": "a//b@c"}, id="no address"),
        pytest.param(None, None, id="no arguments"),
    ],
)
def test_arguments_of_plugins_are_shown_without_secrets(args: Any, shown: Any) -> None:
    assert args_without_secrets(args) == shown
    document = {"profiles": [{"pluginConfig": [{"name": "Load", "args": args}]}, {}]}
    assert without_secrets(document) == {"profiles": [{"pluginConfig": [{"name": "Load", "args": shown}]}, {}]}
